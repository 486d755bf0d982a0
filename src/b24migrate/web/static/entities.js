// One row for each entity: its phases, and how many records are where. A row opens to its streams and notes.
import { h, onAct, show } from "./dom.js";
import { number } from "./format.js";
import { STATES, badge, icon } from "./icons.js";
import { sentence } from "./texts.js";
import { nameOf, say } from "./messages.js";

const COLUMNS = ["source", "read", "staged", "imported", "failed", "verified"];
const MORE = ["retrying", "excluded", "deleted", "impossible", "findings", "conflicts", "undecided", "drift"];

export class Entities {
  #place;
  #open = new Set();
  #last = null;

  constructor(place) {
    this.#place = place;
    onAct(place, (_, button) => this.#turn(button.dataset.entity));
  }

  show(overview) {
    this.#last = overview;
    const planned = overview.entities.filter((one) => one.planned || one.streams.some((stream) => stream.staged));
    const shown = planned.length ? planned : overview.entities;
    show(this.#place, h("table", { class: "cards entities", role: "table" },
      h("caption", { class: "unseen" }, say("entities.head")),
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, head(say("entities.entity")), head(say("entities.phases")),
        COLUMNS.map((column) => head(say(`column.${column}`), "number")))),
      h("tbody", { role: "rowgroup" }, shown.flatMap((one) => this.#rows(one)))));
  }

  #turn(name) {
    if (!this.#open.delete(name)) this.#open.add(name);
    this.show(this.#last);
  }

  #rows(entity) {
    const open = this.#open.has(entity.name);
    const id = `streams-${entity.name}`;
    const row = h("tr", { role: "row", "data-key": entity.name, "data-entity-row": entity.name },
      h("th", { scope: "row", role: "rowheader" }, h("button", {
        type: "button", class: "opener", "aria-expanded": String(open), "aria-controls": open ? id : null,
        "data-act": "turn", "data-entity": entity.name,
      }, icon("right"), h("span", {}, nameOf("entity", entity.name)))),
      h("td", { role: "cell", "data-label": say("entities.phases") }, phases(entity)),
      COLUMNS.map((column) => numberCell(column, total(entity, column), column === "verified" && entity.verified)));
    return open ? [row, h("tr", { role: "row", class: "opened", "data-key": `${entity.name} open` },
      h("td", { role: "cell", colspan: String(COLUMNS.length + 2), id }, inside(entity)))] : [row];
  }
}

const head = (text, kind = "") => h("th", { scope: "col", role: "columnheader", class: kind || null }, text);

function numberCell(column, value, proven = false) {
  const bad = column === "failed" && value;
  return h("td", { role: "cell", class: bad ? "number bad" : "number", "data-label": say(`column.${column}`), "data-column": column },
    bad ? icon("cross") : null, proven ? icon("check", "good") : null,
    h("span", {}, number(value)), proven ? h("span", { class: "unseen" }, say("entities.proven")) : null);
}

/** No sum if a stream has no value. */
function total(entity, column) {
  const values = entity.streams.map((stream) => stream[column]);
  return values.some((value) => value === null) ? null : values.reduce((sum, value) => sum + value, 0);
}

function phases(entity) {
  return h("ul", { class: "phases" }, entity.phases.map((phase) => {
    const [tone, mark] = STATES[phase.state] ?? STATES.pending;
    return h("li", { class: `phase ${tone}`, "data-key": phase.name, "data-state": phase.state },
      icon(mark), h("span", {}, nameOf("phase", phase.name)),
      h("span", { class: "unseen" }, say("phase_state", { state: nameOf("state", phase.state) })));
  }));
}

function inside(entity) {
  const columns = [...COLUMNS, ...MORE.filter((column) => entity.streams.some((stream) => stream[column]))];
  const withMessage = entity.phases.filter((phase) => phase.message);
  return h("div", { class: "inside" },
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": say("entities.streams", { name: nameOf("entity", entity.name) }) },
      h("table", { class: "plain" },
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, say("entities.stream")),
          columns.map((column) => h("th", { scope: "col", class: "number" }, say(`column.${column}`))))),
        h("tbody", {}, entity.streams.map((stream) => h("tr", { "data-key": stream.name },
          h("th", { scope: "row" }, nameOf("stream", stream.name)),
          columns.map((column) => h("td", { class: `number ${tone(column, stream[column])}`.trim() }, number(stream[column])))))))),
    withMessage.length ? h("ul", { class: "notes" }, withMessage.map((phase) => h("li", {},
      badge(STATES[phase.state] ?? STATES.pending, nameOf("phase", phase.name)), " ", sentence(phase.message)))) : null,
    entity.notes.length ? h("ul", { class: "notes" }, entity.notes.map((note) => h("li", { dir: "auto" }, sentence(note.slice(0, 1000))))) : null);
}

const tone = (column, value) =>
  !value ? "" : column === "failed" ? "bad" : ["findings", "drift", "retrying", "undecided"].includes(column) ? "warn" : "";
