"use strict";
// One chart: axes, lines with bands or points, and the values under the pointer or the arrow keys.

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 240, LEFT = 52, RIGHT = 10, TOP = 8, BOTTOM = 38;

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function shape(parent, name, attributes, text = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  parent.append(made);
  return made;
}

function short(x) {
  if (x === null || x === undefined) return "–";
  const size = Math.abs(x);
  if (size >= 1e6) return Number((x / 1e6).toPrecision(4)) + "M";
  if (size >= 1e4) return Number((x / 1e3).toPrecision(4)) + "k";
  return String(Number(x.toPrecision(4)));
}

// A scale from numbers to pixels; its ticks are round numbers.
function scale(ends, pixels, log) {
  let [low, high] = ends;
  if (!(high > low)) { const spare = Math.abs(low) * 0.05 || 0.5; low -= spare; high += spare; }
  if (log) {
    const [a, b] = [Math.log10(low), Math.log10(high)];
    const place = x => pixels[0] + (Math.log10(x) - a) / (b - a) * (pixels[1] - pixels[0]);
    const steps = b - a < 1.5 ? [1, 2, 5] : [1], ticks = [];
    for (let power = Math.floor(a); power <= Math.ceil(b); power++) {
      for (const step of steps) { const x = step * 10 ** power; if (x >= low * 0.999 && x <= high * 1.001) ticks.push(x); }
    }
    return { place, ticks };
  }
  const rough = (high - low) / 4, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map(k => k * power).find(k => k >= rough), ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) ticks.push(k * step);
  return { place: x => pixels[0] + (x - low) / (high - low) * (pixels[1] - pixels[0]), ticks };
}

function drawAxes(svg, x, y, width, labels) {
  for (const tick of y.ticks) {
    shape(svg, "line", { class: "rule", x1: LEFT, x2: width - RIGHT, y1: y.place(tick), y2: y.place(tick) });
    shape(svg, "text", { x: LEFT - 5, y: y.place(tick) + 4, "text-anchor": "end" }, short(tick));
  }
  for (const tick of x.ticks) {
    shape(svg, "text", { x: x.place(tick), y: HEIGHT - BOTTOM + 15, "text-anchor": "middle" }, short(tick));
  }
  shape(svg, "text", { x: (LEFT + width - RIGHT) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, labels[0]);
  shape(svg, "text", { transform: `translate(11 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)`, "text-anchor": "middle" }, labels[1]);
}

function drawLine(svg, one, x, y, bands) {
  const paint = `var(--c${one.colour})`, marks = { "data-line": one.id };
  const seen = one.points.filter(p => p.y !== null && Number.isFinite(x.place(p.x)) && Number.isFinite(y.place(p.y)));
  const at = p => `${x.place(p.x).toFixed(1)},${y.place(p.y).toFixed(1)}`;
  if (one.dots) {
    for (const p of seen) shape(svg, "circle", { class: "dot", fill: paint, r: 3.2, cx: x.place(p.x), cy: y.place(p.y), ...marks });
    if (one.along) for (const path of one.along) shape(svg, "polyline", { class: "line", stroke: paint, points: path.map(at).join(" "), ...marks });
    return;
  }
  if (bands && seen.some(p => p.e !== null)) {
    const edge = (p, sign) => ({ x: p.x, y: p.y + sign * (p.e || 0) });
    const ends = [...seen.map(p => edge(p, 1)), ...seen.map(p => edge(p, -1)).reverse()];
    const kept = ends.filter(p => Number.isFinite(y.place(p.y)));
    shape(svg, "polygon", { class: "band", fill: paint, points: kept.map(at).join(" "), ...marks });
  }
  shape(svg, "polyline", { class: "line", stroke: paint, points: seen.map(at).join(" "), ...marks });
}

// spec: caption, lines [{id, label, colour, points [{x, y, e, text}], dots, along}], x and y {ends, log, label}, bands
function chart(figure, spec) {
  const width = Math.max(220, figure.clientWidth);
  const svg = shape(figure, "svg", {
    class: "chart", viewBox: `0 0 ${width} ${HEIGHT}`, tabindex: 0, role: "img",
    "aria-label": `${spec.y.label} against ${spec.x.label}${spec.caption ? ", " + spec.caption : ""}: ${spec.lines.map(l => l.label).join(", ")}`,
  });
  const x = scale(spec.x.ends, [LEFT, width - RIGHT], spec.x.log);
  const y = scale(spec.y.ends, [HEIGHT - BOTTOM, TOP], spec.y.log);
  drawAxes(svg, x, y, width, [spec.x.label, spec.y.label]);
  for (const line of spec.lines) drawLine(svg, line, x, y, spec.bands);
  if (!spec.lines.length) shape(svg, "text", { x: width / 2, y: HEIGHT / 2, "text-anchor": "middle" }, "no runs here");
  point(svg, spec, x, y, width);
}

// Values under the pointer, or under a cursor that the arrow keys move.
function point(svg, spec, x, y, width) {
  const all = spec.lines.flatMap(line => line.points.filter(p => p.y !== null).map(p => ({ ...p, line })));
  if (!all.length) return;
  const stops = [...new Set(all.map(p => p.x))].sort((a, b) => a - b);
  let cursor = null, stop = stops.length - 1;
  const hide = () => { cursor?.remove(); cursor = null; document.getElementById("tip").hidden = true; };
  const box = () => svg.getBoundingClientRect();
  const show = (value, left, top) => {
    hide();
    cursor = shape(svg, "line", { class: "cursor", x1: x.place(value), x2: x.place(value), y1: TOP, y2: HEIGHT - BOTTOM });
    tip(rowsAt(spec, value), `${short(value)} ${spec.x.label}`, left, top);
  };
  const nearest = event => {
    const px = (event.clientX - box().left) * width / box().width, py = (event.clientY - box().top) * HEIGHT / box().height;
    const far = p => Math.hypot(x.place(p.x) - px, spec.lines[0].dots ? y.place(p.y) - py : 0);
    return all.reduce((best, p) => far(p) < far(best) ? p : best);
  };
  svg.addEventListener("pointermove", event => {
    const p = nearest(event);
    if (!p.line.dots) return show(p.x, event.clientX, event.clientY);
    hide();
    cursor = shape(svg, "circle", { class: "cursor", fill: "none", r: 6, cx: x.place(p.x), cy: y.place(p.y) });
    tip([{ line: p.line, p }], p.text, event.clientX, event.clientY);
  });
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("blur", hide);
  svg.addEventListener("keydown", event => {
    const moves = { ArrowLeft: stop - 1, ArrowRight: stop + 1, Home: 0, End: stops.length - 1 };
    if (event.key === "Escape") hide();
    if (!(event.key in moves)) return;
    event.preventDefault();
    stop = Math.min(stops.length - 1, Math.max(0, moves[event.key]));
    show(stops[stop], box().left + x.place(stops[stop]) * box().width / width, box().top + 30);
  });
}

function rowsAt(spec, value) {
  const rows = [];
  for (const line of spec.lines) {
    const seen = line.points.filter(p => p.y !== null);
    if (!seen.length) continue;
    const p = seen.reduce((best, q) => Math.abs(q.x - value) < Math.abs(best.x - value) ? q : best);
    rows.push({ line, p });
  }
  return rows.sort((a, b) => b.p.y - a.p.y);
}

function tip(rows, title, left, top) {
  const box = document.getElementById("tip"), table = element("table");
  for (const { line, p } of rows) {
    const mark = element("i");
    mark.style.setProperty("--c", `var(--c${line.colour})`);
    const spread = p.e === null || p.e === undefined ? "" : ` ± ${short(p.e)}`;
    const numbers = line.dots ? `${short(p.y)} at ${short(p.x)}` : short(p.y) + spread;
    table.append(element("tr", {}, element("td", {}, mark, ` ${line.label || "mean"}`), element("td", {}, numbers)));
  }
  box.replaceChildren(element("div", {}, title), table);
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  box.style.left = `${Math.max(4, left + 14 + width > innerWidth ? left - width - 14 : left + 14)}px`;
  box.style.top = `${Math.max(4, Math.min(top + 14, innerHeight - height - 4))}px`;
}
