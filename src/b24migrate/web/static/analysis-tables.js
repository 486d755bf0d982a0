// The counts of the analysis: records, files, custom fields, and the cost of a call.
import { counted, ranged } from "./analysis-format.js";
import { h, svg } from "./dom.js";
import { bytes, decimal, number, percent } from "./format.js";
import { brief } from "./texts.js";
import { nameOf, say } from "./messages.js";

const SHOWN = 15;
const WIDE = ["method", "fill", "label"]; // wants a line of its own on a phone

export const streamsPart = (streams) => part("streams", ["stream", "records", "range", "sampled", "method"],
  streams.map((one) => [nameOf("stream", one.stream), counted(one.records), ranged(one.records), number(one.sampled), h("code", {}, brief(one.method, 60))]), [1, 2, 3]);

export const filesPart = (files) => part("files", ["entity", "files", "size", "size_range", "unknown_sizes"],
  files.map((one) => [nameOf("entity", one.entity), counted(one.files), bytes(one.bytes.value), ranged(one.bytes, bytes), number(one.unknown_sizes)]), [1, 2, 3, 4]);

export const largeFilesPart = (files) => part("large_files", ["name", "size", "entity"],
  (files ?? []).map((one) => [brief(one.name || one.key, 120), bytes(one.bytes), nameOf("entity", one.entity)]), [1]);

export const methodsPart = (methods) => part("methods", ["method", "seconds", "calls", "measured_on"],
  methods.map((one) => [h("code", {}, brief(one.method, 60)), one.measured_on ? decimal(one.seconds, 3) : say("analysis.unmeasured"), number(one.calls), number(one.measured_on)]), [1, 2, 3]);

export const fieldsPart = (fields) => part("fields", ["field", "label", "entity", "type", "fill"],
  [...fields].sort((one, other) => other.filled / (other.of || 1) - one.filled / (one.of || 1))
    .map((one) => [h("code", {}, brief(one.code, 60)), brief(one.label, 80), nameOf("entity", one.entity), brief(one.type, 30), fill(one)]), []);

function fill(one) {
  const share = one.of ? one.filled / one.of : 0;
  return h("span", { class: "fill" }, svg("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: "track", x: 0, y: 0, width: 100, height: 8 }), svg("rect", { class: "part read", x: 0, y: 0, width: 100 * share, height: 8 })),
    h("span", { class: "number" }, percent(share)), h("span", { class: "hint" }, say("analysis.filled_of", { filled: number(one.filled), of: number(one.of) })));
}

/** The first rows; the rest behind one click. */
function part(name, columns, rows, numbers) {
  if (!rows.length) return null;
  const rest = rows.slice(SHOWN);
  return h("section", { class: "card" }, h("h2", {}, say(`analysis.${name}`)), table(name, columns, rows.slice(0, SHOWN), numbers),
    rest.length ? h("details", {}, h("summary", {}, say("analysis.rest", { count: number(rest.length) })), table(name, columns, rest, numbers)) : null);
}

function table(name, columns, rows, numbers) {
  const kind = (at) => (numbers.includes(at) ? "number" : null);
  return h("table", { class: "cards", role: "table" }, h("caption", { class: "unseen" }, say(`analysis.${name}`)),
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, columns.map((column, at) => h("th", { scope: "col", role: "columnheader", class: kind(at) }, say(`analysis.column.${column}`))))),
    h("tbody", { role: "rowgroup" }, rows.map((cells) => h("tr", { role: "row" }, cells.map((content, at) => (at === 0
      ? h("th", { scope: "row", role: "rowheader" }, content)
      : h("td", { role: "cell", class: kind(at) ?? (WIDE.includes(columns[at]) ? "long" : null), "data-label": say(`analysis.column.${columns[at]}`) }, content || null)))))));
}
