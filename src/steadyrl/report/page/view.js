// A view: the controls of a section, its legend, and a chart for each level of the axis chosen for panels.

const BASE = -1; // of a scale: the value that most runs of a line have

function view(section, data, parts) {
  const state = { line: data.line, panel: data.panel, fixed: data.axes.map((_, i) => data.scales.includes(i) ? BASE : 0), hidden: new Set(), ...parts.state };
  const controls = section.querySelector(".controls"), legend = section.querySelector(".legend"), panels = section.querySelector(".panels");
  const free = parts.free(state);

  function select(label, options, value, change) {
    const box = element("select");
    options.forEach(([id, text]) => box.append(element("option", { value: id }, text)));
    box.value = String(value);
    box.addEventListener("change", () => { change(box.value); redraw(); });
    controls.append(element("label", {}, label, box));
  }

  function tick(label, key, allowed = true) {
    const box = element("input", { type: "checkbox" });
    box.checked = state[key] && allowed;
    box.disabled = !allowed;
    box.addEventListener("change", () => { state[key] = box.checked; redraw(); });
    controls.append(element("label", allowed ? {} : { title: "not all values are above zero" }, box, label));
  }

  function drawControls() {
    const focused = [...controls.querySelectorAll("select, input")].indexOf(document.activeElement);
    controls.replaceChildren();
    parts.controls(state, select, tick);
    const axes = data.axes.map((axis, i) => [i, axis.label]);
    if (axes.length > 1) {
      const swap = (key, other) => value => { if (Number(value) === state[other]) state[other] = state[key]; state[key] = Number(value); };
      if (!parts.panelIsGiven) select("panels", [[-1, "none"], ...axes], state.panel, value => {
        if (Number(value) === state.line) state.line = state.panel >= 0 ? state.panel : axes.find(([i]) => i !== state.line)[0];
        state.panel = Number(value);
      });
      select(parts.lines, axes.filter(([i]) => !parts.panelIsGiven || i !== state.panel), state.line, swap("line", "panel"));
    }
    data.axes.forEach((axis, i) => {
      if (i === state.line || i === state.panel || i === free) return;
      const levels = axis.levels.map((level, k) => [k, level]);
      select(axis.label, data.scales.includes(i) ? [[BASE, "usual"], ...levels] : levels, state.fixed[i], value => { state.fixed[i] = Number(value); });
    });
    if (focused >= 0) controls.querySelectorAll("select, input")[focused]?.focus();
  }

  function drawLegend() {
    legend.replaceChildren();
    if (state.line < 0) return;
    const axis = data.axes[state.line], ids = axis.levels.map((_, k) => `${state.line}:${k}`);
    axis.levels.forEach((label, k) => {
      const button = element("button", { type: "button", "aria-pressed": !state.hidden.has(ids[k]), "data-line": ids[k] }, label);
      button.style.setProperty("--c", `var(--c${axis.colours[k]})`);
      const set = () => {
        legend.childNodes.forEach(other => other.setAttribute("aria-pressed", !state.hidden.has(other.dataset.line)));
        drawPanels();
      };
      button.addEventListener("click", () => { state.hidden.has(ids[k]) ? state.hidden.delete(ids[k]) : state.hidden.add(ids[k]); set(); });
      button.addEventListener("dblclick", () => {
        const alone = ids.every((id, j) => state.hidden.has(id) === (j !== k));
        state.hidden = new Set(alone ? [] : ids.filter((_, j) => j !== k));
        set();
      });
      for (const [on, dim] of [["pointerenter", true], ["focus", true], ["pointerleave", false], ["blur", false]]) {
        button.addEventListener(on, () => panels.querySelectorAll(".chart").forEach(svg => {
          svg.classList.toggle("dim", dim);
          svg.querySelectorAll("[data-line]").forEach(e => e.classList.toggle("near", e.dataset.line === ids[k]));
        }));
      }
      legend.append(button);
    });
  }

  function linesOf(level) {
    const lines = state.line < 0 ? [null] : data.axes[state.line].levels.keys();
    return [...lines].map(k => {
      const wanted = (cell, place, i) => {
        if (i === free || cell.anywhere.includes(i)) return true;
        if (i === state.line || i === state.panel) return place === (i === state.line ? k : level);
        return state.fixed[i] === BASE ? cell.base.includes(i) : place === state.fixed[i];
      };
      const cells = data.cells.filter(cell => cell.at.every((place, i) => wanted(cell, place, i)));
      const axis = data.axes[state.line];
      const named = { id: `${state.line}:${k}`, label: axis ? axis.levels[k] : "", colour: axis ? axis.colours[k] : 0 };
      return { ...named, ...parts.line(state, cells) };
    }).filter(line => line.points.length && !state.hidden.has(line.id));
  }

  function drawPanels() {
    const axis = data.axes[state.panel], levels = axis ? [...axis.levels.keys()] : [null];
    const drawn = levels.map(level => ({ caption: axis ? `${axis.levels[level]}` : "", lines: linesOf(level) }));
    const figures = drawn.map(one => element("figure", {}, ...(one.caption ? [element("figcaption", {}, one.caption)] : [])));
    panels.classList.toggle("few", levels.length < 2);
    panels.replaceChildren(...figures); // all of them before any is drawn: a figure's width depends on the others
    const together = parts.ends(state, drawn.flatMap(one => one.lines));
    drawn.forEach((one, i) => {
      const own = parts.ends(state, one.lines);
      chart(figures[i], { ...one, x: parts.shareX ? together.x : own.x, y: parts.panelIsGiven ? own.y : together.y, bands: state.bands });
    });
  }

  function redraw() { drawControls(); drawLegend(); drawPanels(); }
  redraw();
  let before = panels.clientWidth;
  new ResizeObserver(() => { if (panels.clientWidth !== before) { before = panels.clientWidth; drawPanels(); } }).observe(panels);
}

// The ends of an axis: all numbers with a little room, or those above zero on a logarithmic one.
function ends(numbers, log) {
  const kept = numbers.filter(x => x !== null && Number.isFinite(x) && (!log || x > 0));
  if (!kept.length) return log ? [0.1, 1] : [0, 1];
  let low = Infinity, high = -Infinity;
  for (const x of kept) { if (x < low) low = x; if (x > high) high = x; }
  const room = log ? 0 : (high - low) * 0.04;
  return [low - room, high + room];
}
