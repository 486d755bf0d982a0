// Conflicts as a table: one group of rows for each record, one row for each field.
import { h } from "./dom.js";
import { time } from "./format.js";
import { recordPath } from "./groups.js";
import { badge } from "./icons.js";
import { brief } from "./texts.js";
import { nameOf, say } from "./messages.js";

const COLUMNS = ["field", "sent", "source", "target"];
const TONES = {
  undecided: ["warn", "question"], waiting: ["wait", "glass"], source: ["good", "check"], target: ["quiet", "pause"], none: ["quiet", "check"],
};

export function table(conflicts) {
  return h("table", { class: "cards conflicts", role: "table" },
    h("caption", { class: "unseen" }, say("conflicts.head")),
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" },
      COLUMNS.map((column) => h("th", { scope: "col", role: "columnheader" }, say(`conflicts.column.${column}`))))),
    conflicts.map(record));
}

function record(one) {
  const key = `${one.stream} ${one.source_id}`;
  return h("tbody", { role: "rowgroup", "data-key": key, "data-record": key },
    h("tr", { role: "row", "data-key": "head" }, h("th", { scope: "row", role: "rowheader", colspan: "4" }, head(one))),
    one.fields.map((field) => h("tr", { role: "row", "data-key": field.field, "data-field": field.field },
      h("th", { scope: "row", role: "rowheader", class: "long" }, h("code", {}, brief(field.field, 60))),
      cell("sent", value(field.sent)), cell("source", value(field.source)), cell("target", value(field.target)))));
}

function head(one) {
  const state = stateOf(one);
  const title = one.title || say("search.untitled");
  return h("div", { class: "conflict-head" },
    h("span", { class: "conflict-record" }, h("a", { href: recordPath(one.stream, one.source_id) }, brief(title, 160)),
      " ", h("span", { class: "hint" }, nameOf("stream", one.stream), " · ", brief(one.source_id, 60))),
    badge(TONES[state], say(`conflicts.state.${state}`)),
    h("span", { class: "hint" }, one.undecided ? say("conflicts.found_at") : say(`conflicts.by.${one.by || "rule"}`), " ", time(one.at, { brief: true })),
    one.decidable ? h("span", { class: "conflict-buttons" }, choice(one, "source", title), choice(one, "target", title)) : null);
}

/** The current choice is not offered. */
function choice(one, decision, title) {
  if (!one.undecided && one.decision === decision) return null;
  return h("button", {
    type: "button", class: "button", "data-key": decision, "data-act": decision, "data-stream": one.stream, "data-id": one.source_id,
  }, say(`conflicts.take.${decision}`), h("span", { class: "unseen" }, " ", brief(title, 60)));
}

function stateOf(one) {
  if (one.undecided) return "undecided";
  if (one.waiting) return "waiting";
  return one.decision in TONES ? one.decision : "none";
}

const value = (text) => (text ? brief(text, 220) : h("span", { class: "hint" }, say("conflicts.nothing")));
const cell = (column, content) => h("td", { role: "cell", class: "long", "data-label": say(`conflicts.column.${column}`) }, content);
