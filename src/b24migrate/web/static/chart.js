// Records a second over time: read and imported as lines, waits as shades, and all of it as a table.
import { h, show, svg } from "./dom.js";
import { clock, duration, number, rate, time, zone } from "./format.js";
import { stretches, ticks } from "./pace.js";
import { say } from "./messages.js";

const HEIGHT = 260;
const EDGE = { left: 52, right: 14, top: 12, bottom: 44 };
const LINES = 120;
const ROWS = 12;
const KEPT = 2_000;
const WAITING = 0.1; // a stretch of which so much was waited is shaded
const SERIES = ["read", "imported"];

export class Chart {
  last = "";
  #points = [];
  #place;
  #legend;
  #table;

  constructor(place, legend, table) {
    [this.#place, this.#legend, this.#table] = [place, legend, table];
    new ResizeObserver(() => this.#draw()).observe(place);
  }

  add(points) {
    const fresh = points.filter((point) => point.at > this.last);
    if (fresh.length) this.last = fresh.at(-1).at;
    this.#points.push(...fresh);
    if (this.#points.length > KEPT) this.#points = this.#points.filter((_, at) => at % 2 === 0 || at > KEPT / 2);
    this.#draw();
  }

  #draw() {
    const found = stretches(this.#points, LINES);
    if (found.length === 0) {
      show(this.#place, h("p", { class: "note" }, say("chart.none")));
      show(this.#legend);
      show(this.#table, h("p", { class: "note" }, say("chart.none")));
      return;
    }
    show(this.#legend, legend());
    show(this.#place, drawChart(found, Math.max(280, this.#place.clientWidth)));
    show(this.#table, rows(stretches(this.#points, ROWS)));
  }
}

function legend() {
  const sample = (name) => svg("svg", { class: "sample", viewBox: "0 0 28 10", "aria-hidden": "true" },
    name === "waited" ? svg("rect", { class: "shade", x: 0, y: 0, width: 28, height: 10 })
      : svg("path", { class: `line ${name}`, d: "M1 5H27" }));
  return [...SERIES, "waited"].map((name) => h("span", {}, sample(name), say(`chart.${name}`)));
}

function drawChart(found, width) {
  const [from, to] = [found[0].from, found.at(-1).to];
  const marks = ticks(Math.max(...found.flatMap((one) => SERIES.map((name) => one[name]))));
  const inner = { width: width - EDGE.left - EDGE.right, height: HEIGHT - EDGE.top - EDGE.bottom };
  const x = (moment) => round(EDGE.left + (inner.width * (moment - from)) / (to - from));
  const y = (value) => round(EDGE.top + inner.height * (1 - value / marks.at(-1)));
  const now = found.at(-1);
  const label = say("chart.label", { read: rate(now.read), imported: rate(now.imported) });
  return svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: "img", "aria-label": label },
    found.filter(waiting).map((one) => svg("rect", {
      class: "shade", x: x(one.from), y: EDGE.top, width: round(Math.max(1, x(one.to) - x(one.from))), height: inner.height,
    })),
    marks.map((value) => [
      svg("path", { class: value ? "grid" : "axis", d: `M${EDGE.left} ${y(value)}H${width - EDGE.right}` }),
      svg("text", { class: "tick", x: EDGE.left - 8, y: y(value) + 4, "text-anchor": "end" }, number(value)),
    ]),
    moments(from, to, inner.width).map((moment, at, all) => svg("text", {
      class: "tick", x: x(moment), y: HEIGHT - EDGE.bottom + 20, "text-anchor": at === 0 ? "start" : at === all.length - 1 ? "end" : "middle",
    }, clock(moment, to - from))),
    svg("text", { class: "tick title", x: EDGE.left + inner.width / 2, y: HEIGHT - 6, "text-anchor": "middle" }, say("chart.axis", { zone: zone() })),
    SERIES.map((name) => svg("path", { class: `line ${name}`, d: line(found, name, x, y) })));
}

const waiting = (one) => one.waited > (WAITING * (one.to - one.from)) / 1000;
const round = (value) => Math.round(value * 10) / 10;

/** From the middle of each stretch to that of the next. */
function line(found, name, x, y) {
  if (found.length === 1) return `M${x(found[0].from)} ${y(found[0][name])}H${x(found[0].to)}`;
  const first = `M${x(found[0].from)} ${y(found[0][name])}`;
  const middle = found.map((one) => `L${x((one.from + one.to) / 2)} ${y(one[name])}`).join("");
  return `${first}${middle}L${x(found.at(-1).to)} ${y(found.at(-1)[name])}`;
}

function moments(from, to, width) {
  const count = Math.max(2, Math.min(6, Math.floor(width / 110)));
  return Array.from({ length: count }, (_, at) => from + ((to - from) * at) / (count - 1));
}

function rows(found) {
  const head = ["from", "to", "read", "imported", "waited"];
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": say("chart.as_table") }, h("table", { class: "plain" },
    h("caption", {}, say("chart.caption")),
    h("thead", {}, h("tr", {}, head.map((name) => h("th", { scope: "col", class: name === "from" || name === "to" ? null : "number" }, say(`chart.${name}`))))),
    h("tbody", {}, found.map((one) => h("tr", {},
      h("th", { scope: "row" }, time(new Date(one.from).toISOString(), { brief: true })),
      h("td", {}, time(new Date(one.to).toISOString(), { brief: true })),
      h("td", { class: "number" }, rate(one.read)), h("td", { class: "number" }, rate(one.imported)),
      h("td", { class: "number" }, duration(one.waited)))))));
}
