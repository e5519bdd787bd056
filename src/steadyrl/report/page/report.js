// The page: curves, plane, tables that sort, light and dark.

const data = JSON.parse(document.getElementById("data").textContent);

function curveView(section) {
  const metric = state => data.metrics.find(m => m.name === state.metric);
  const xs = { episodes: "episodes", update: "updates", steps: "steps" };
  const positive = name => data.cells.every(cell => (cell.lines[name]?.y ?? []).every(y => y === null || y > 0));
  view(section, data, {
    state: { metric: data.metrics[0].name, x: "episodes", logX: false, logY: false, bands: true },
    lines: "lines",
    free: () => -1,
    controls(state, select, tick) {
      select("show", data.metrics.map(m => [m.name, m.label]), state.metric, value => { state.metric = value; });
      select("against", Object.entries(xs), state.x, value => { state.x = value; });
      tick("log x", "logX");
      tick("log y", "logY", positive(state.metric));
      tick("bands", "bands");
    },
    line(state, cells) {
      const cell = cells.find(one => one.lines[state.metric]);
      if (!cell) return { points: [] };
      const found = cell.lines[state.metric], x = typeof found.x === "string" ? cell.lines[found.x].x : found.x;
      const points = found.y.map((y, i) => ({ x: x[state.x][i], y, e: found.e[i] }));
      return { points: state.logX ? points.filter(p => p.x > 0) : points };
    },
    ends(state, lines) {
      const log = state.logY && positive(state.metric), points = lines.flatMap(line => line.points).filter(p => p.y !== null);
      const spread = state.bands ? points.flatMap(p => [p.y - (p.e || 0), p.y + (p.e || 0)]) : points.map(p => p.y);
      const whole = metric(state).share && !log ? [-0.02, 1.02] : ends(spread, log);
      const first = state.logX ? ends(points.map(p => p.x), true) : [0, ends(points.map(p => p.x), false)[1]];
      return { x: { ends: first, log: state.logX, label: xs[state.x] }, y: { ends: whole, log, label: metric(state).label } };
    },
  });
}

function planeView(section) {
  const own = data.plane.own, measure = data.axes.findIndex(axis => axis.name === "measure");
  const lam = data.axes.findIndex(axis => axis.name === "lam"), apart = own && measure >= 0;
  const panel = apart ? measure : data.panel;
  const line = panel === data.line ? data.axes.findIndex((_, i) => i !== panel && i !== lam) : data.line;
  const byCell = new Map();
  for (const [cell, seed, hash, mean, ...values] of data.plane.points) {
    if (!byCell.has(cell)) byCell.set(cell, []);
    byCell.get(cell).push({ seed, hash, mean, values });
  }
  view(section, data, {
    state: { measure: Math.max(0, data.plane.measures.findIndex(m => m.name === "gini_deviation")), logX: false, panel, line },
    lines: "colours",
    panelIsGiven: apart,
    shareX: !apart,
    free: state => lam !== state.line && lam !== state.panel ? lam : -1,
    controls(state, select, tick) {
      if (!own) select("variability by", data.plane.measures.map((m, i) => [i, m.label]), state.measure, value => { state.measure = Number(value); });
      tick("log x", "logX", data.plane.points.every(p => p[4 + state.measure] > 0));
    },
    line(state, cells) {
      const found = cells.map(cell => ({ cell, runs: byCell.get(data.cells.indexOf(cell)) ?? [] })).filter(one => one.runs.length);
      const points = found.flatMap(({ cell, runs }) => runs.map(run => ({
        x: run.values[state.measure], y: run.mean, e: null,
        text: `${cell.at.map((place, i) => data.axes[i].levels[place]).join(", ")}, seed ${run.seed}, run ${run.hash}`,
      })));
      const average = numbers => numbers.reduce((a, b) => a + b, 0) / numbers.length;
      const along = lam < 0 || lam === state.line || lam === state.panel ? [] : [found.sort((a, b) => a.cell.at[lam] - b.cell.at[lam]).map(({ runs }) =>
        ({ x: average(runs.map(run => run.values[state.measure])), y: average(runs.map(run => run.mean)) }))];
      return { points: points.filter(p => p.x !== null), dots: true, along };
    },
    ends(state, lines) {
      const points = lines.flatMap(one => one.points);
      const label = own ? "variability D" : data.plane.measures[state.measure].label;
      return { x: { ends: ends(points.map(p => p.x), state.logX), log: state.logX, label }, y: { ends: ends(points.map(p => p.y), false), log: false, label: "mean return" } };
    },
  });
}

function sortable(table) {
  const heads = [...table.querySelectorAll("th")], body = table.tBodies[0];
  heads.forEach((head, k) => head.querySelector("button").addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    heads.forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = row => row.cells[k].dataset.sort ?? row.cells[k].textContent;
    const compare = (a, b) => {
      if (key(a) === "" || key(b) === "") return (key(a) === "") - (key(b) === ""); // what is not there stays last
      const [x, y] = [Number(key(a)), Number(key(b))];
      return (Number.isNaN(x) || Number.isNaN(y) ? key(a).localeCompare(key(b)) : x - y) * (down ? -1 : 1);
    };
    body.append(...[...body.rows].sort(compare));
  }));
}

function theme() {
  const root = document.documentElement, button = document.getElementById("theme");
  button.addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
}

theme();
document.querySelectorAll("table.sortable").forEach(sortable);
if (data.metrics.length && data.cells.length) curveView(document.getElementById("curves"));
if (data.plane.points.length) planeView(document.getElementById("plane"));
