// The fidelity list as a table: on its own page, and in the dialog before a start.
import { h } from "./dom.js";
import { number, time } from "./format.js";
import { brief, sentence } from "./texts.js";
import { badge, icon } from "./icons.js";
import { nameOf, say } from "./messages.js";

const TONES = { lost: ["bad", "cross"], approximated: ["warn", "question"], transformed: ["quiet", "again"], kept: ["good", "check"] };

export function verdict(answer) {
  if (!answer.list) return h("p", { class: "note" }, sentence(say("fidelity.never")));
  if (!answer.list.lines.length) return h("p", { class: "quiet-line" }, icon("check", "good"), h("span", {}, say("fidelity.all_kept")));
  return h("p", { class: "lead" }, say("fidelity.lead", { count: number(answer.list.lines.length) }));
}

export function notes(answer) {
  const found = [];
  if (answer.list && !answer.list.now) found.push(say("fidelity.as_of", { at: time(answer.list.asked_at).textContent }));
  if (answer.list?.lines.length) found.push(standing(answer.list));
  if (answer.foreseen) found.push(say("fidelity.foreseen", { count: number(answer.foreseen) }));
  if (answer.spared) found.push(say("fidelity.spared", { count: number(answer.spared) }));
  return found.map((text) => h("p", { class: "note" }, sentence(text)));
}

function standing(list) {
  if (list.needs_acceptance || !list.accepted) return say("fidelity.open");
  return say("fidelity.accepted", { by: list.accepted.by, at: time(list.accepted.at).textContent });
}

export function table(list) {
  const columns = ["kind", "field", "keeping", "records", "reason"];
  return h("table", { class: "cards fidelity", role: "table" },
    h("caption", { class: "unseen" }, say("fidelity.head")),
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" },
      columns.map((column) => h("th", { scope: "col", role: "columnheader" }, say(`fidelity.column.${column}`))))),
    h("tbody", { role: "rowgroup" }, list.lines.map((line) => h("tr", { role: "row" },
      h("th", { scope: "row", role: "rowheader", "data-label": say("fidelity.column.kind") }, nameOf("stream", line.stream)),
      cell("field", line.field ? h("code", {}, brief(line.field, 60)) : say("fidelity.whole")),
      cell("keeping", badge(TONES[line.keeping] ?? TONES.lost, say(`fidelity.keeping.${line.keeping}`))),
      cell("records", amount(line)),
      cell("reason", brief(line.reason, 300))))));
}

/** A number that is not counted shows its basis. */
function amount({ records, basis }) {
  if (records === null) return say(`fidelity.basis.${basis}`);
  return basis === "counted" ? number(records) : `${number(records)} (${say(`fidelity.basis.${basis}`)})`;
}

const cell = (column, content) => h("td", { role: "cell", class: `long of-${column}`, "data-label": say(`fidelity.column.${column}`) }, content);

/** For the question before a start: nothing where nothing needs to be accepted. */
export function acceptFields(answer) {
  if (!answer?.list?.needs_acceptance) return [];
  return [
    verdict(answer),
    h("div", { class: "scrolls", tabindex: "0" }, table(answer.list)),
    h("p", {}, h("a", { href: "/fidelity" }, say("fidelity.way_to_all"))),
    h("label", { class: "tick" },
      h("input", { type: "checkbox", name: "accept", value: answer.list.hash, required: true }), say("fidelity.tick")),
  ];
}
