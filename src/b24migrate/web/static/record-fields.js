// The fields of a record: source, staged and target side by side, a verdict for each, differences first.
import { h } from "./dom.js";
import { recordPath } from "./groups.js";
import { badge } from "./icons.js";
import { brief, folded, sentence } from "./texts.js";
import { hasMessage, nameOf, say } from "./messages.js";

const VERDICTS = {
  differs: ["bad", "cross"], missing: ["bad", "bang"], only_source: ["bad", "bang"], only_target: ["warn", "bang"],
  not_there: ["bad", "bang"], foreseen: ["quiet", "bar"], unknown: ["quiet", "question"], rewritten: ["good", "again"], equal: ["good", "check"], beyond: ["quiet", "bar"],
  own: ["quiet", "bar"], not_sent: ["quiet", "bar"],
};
const ORDER = Object.keys(VERDICTS);
const DIFFERENCES = ["differs", "missing", "only_source", "only_target", "not_there"];
const ASIDE = ["beyond", "own", "not_sent"]; // no part of the comparison
const NAMED = 5;

/** Fields of a record that is not on the target are not lost: the record was not sent. */
const withVerdict = (record) => (field) => (field.verdict === "only_source" && !record.link ? { ...field, verdict: "not_there" } : field);

export function fieldTable(record) {
  const rows = record.fields.map(withVerdict(record)).sort((one, other) => ORDER.indexOf(one.verdict) - ORDER.indexOf(other.verdict));
  const different = rows.filter(isDifferent).length;
  const compared = rows.filter((one) => !ASIDE.includes(one.verdict));
  const aside = rows.filter((one) => ASIDE.includes(one.verdict));
  const part = h("section", { class: "card fields-part" },
    h("div", { class: "head-line" }, h("h2", {}, say("record.fields")),
      h("label", { class: "tick" }, h("input", { type: "checkbox", id: "only-differences" }), say("record.only_differences", { count: different }))),
    sides(record),
    compared.length ? table(compared) : h("p", { class: "note" }, say("record.no_fields")),
    aside.length ? h("details", { class: "aside" }, h("summary", {}, say("record.aside", { count: aside.length })), table(aside)) : null);
  part.addEventListener("change", (event) => {
    if (event.target.id === "only-differences") part.classList.toggle("only-differences", event.target.checked);
  });
  return part;
}

function table(rows) {
  return h("table", { class: "cards fields", role: "table" },
    h("caption", { class: "unseen" }, say("record.fields")),
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" },
      ["field", "verdict", "source", "staged", "target"].map((name) => h("th", { scope: "col", role: "columnheader" }, say(`record.column.${name}`))))),
    h("tbody", { role: "rowgroup" }, rows.map(row)));
}

const isDifferent = (field) => DIFFERENCES.includes(field.verdict);

/** The state of each portal's answer; nothing if both answered. */
function sides(record) {
  return ["source", "target"].filter((name) => record[name].state !== "now").map((name) => h("p", { class: "note" },
    h("strong", {}, say(`record.column.${name}`)), ": ", say(`record.side.${record[name].state}`), " ",
    sentence([record[name].message, record[name].hint].filter(Boolean).join(" "))));
}

function row(field) {
  const target = field.target ?? null;
  return h("tr", { role: "row", "data-verdict": field.verdict, "data-field": field.name, class: isDifferent(field) ? "different" : "alike" },
    h("th", { scope: "row", role: "rowheader" }, h("code", {}, brief(field.name, 80)),
      field.source_names.length ? h("span", { class: "hint" }, " ", brief(field.source_names.join(", "), 120)) : null),
    cell("verdict", badge(VERDICTS[field.verdict] ?? VERDICTS.unknown, say(`record.field.${field.verdict}`)), about(field)),
    cell("source", value(field.source), field.changed ? h("p", { class: "hint" }, say("record.field_changed")) : null),
    cell("staged", value(field.staged)),
    cell("target", value(target), sentAlso(field)));
}

const cell = (name, ...content) => h("td", { role: "cell", class: "long", "data-label": say(`record.column.${name}`) }, content);

function value(one) {
  if (one === null || one === undefined) return h("span", { class: "hint" }, say("record.nothing"));
  if (one.text === "") return h("span", { class: "hint" }, say("record.empty"));
  return folded(one.text, one.length);
}

/** The sent value is shown if the target has another one. */
function sentAlso(field) {
  if (!field.sent || (field.target && field.sent.text === field.target.text)) return null;
  return h("div", { class: "sent" }, h("span", { class: "hint" }, say("record.sent"), " "), value(field.sent));
}

function about(field) {
  const links = field.names.slice(0, NAMED).map((one) => h("li", {},
    h("a", { href: recordPath(one.stream, one.id) }, nameOf("stream", one.stream), " ", brief(one.id, 40)), " → ", one.target_id ? brief(one.target_id, 40) : say("record.not_there")));
  return [
    hasMessage(`record.field_about.${field.verdict}`) ? h("p", { class: "hint" }, say(`record.field_about.${field.verdict}`)) : null,
    links.length ? h("ul", { class: "named" }, links) : null,
    field.unresolved.length ? h("p", { class: "hint" }, say("record.unresolved"), " ", brief(field.unresolved.join(", "), 200)) : null,
    field.note && hasMessage(`record.note.${field.note}`) ? h("p", { class: "hint" }, say(`record.note.${field.note}`)) : null];
}
