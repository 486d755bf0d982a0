// The last pass: how each record type was read and why, the changes, and changes that a delta run does not detect.
import { h, show } from "./dom.js";
import { number, time } from "./format.js";
import { sentence } from "./texts.js";
import { nameOf, say } from "./messages.js";

const COLUMNS = ["stream", "changed", "deleted", "how"];

export function showLastPass(place, { last }) {
  const streams = last?.streams ?? [];
  place.hidden = !streams.length;
  if (!streams.length) return;
  const since = streams.filter((one) => one.delta);
  const moved = streams.filter((one) => one.changed || one.deleted);
  const unseen = streams.filter((one) => one.unseen.length);
  show(place.querySelector("div"),
    h("p", {}, say(last.delta ? "pass.delta" : "pass.full"), " ", time(last.started, { brief: true }), ". ",
      last.delta ? say("pass.read", { since: number(since.length), whole: number(streams.length - since.length) }) : null,
      last.report_only && last.delta ? [" ", say("pass.report_only")] : null),
    last.delta ? h("p", {}, say("pass.found", { changed: number(last.changed), deleted: number(last.deleted) })) : null,
    moved.length ? table("moved", moved) : null,
    last.delta ? h("details", { "data-key": "all" }, h("summary", {}, say("pass.all")), table("all", streams)) : null,
    unseen.length ? h("details", { "data-key": "unseen" }, h("summary", {}, say("pass.unseen")),
      h("ul", { class: "notes" }, unseen.flatMap((one) => one.unseen.map((text) =>
        h("li", {}, h("strong", {}, nameOf("stream", one.stream)), ": ", sentence(text)))))) : null);
}

function table(key, streams) {
  return h("table", { class: "cards", role: "table", "data-key": key },
    h("caption", { class: "unseen" }, say("pass.head")),
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, COLUMNS.map((column) =>
      h("th", { scope: "col", role: "columnheader", class: column === "changed" || column === "deleted" ? "number" : null }, say(`pass.column.${column}`))))),
    h("tbody", { role: "rowgroup" }, streams.map((one) => h("tr", { role: "row", "data-key": one.stream },
      h("th", { scope: "row", role: "rowheader" }, nameOf("stream", one.stream)),
      cell("changed", number(one.changed), "number"), cell("deleted", number(one.deleted), "number"), cell("how", how(one), "long")))));
}

function how(one) {
  if (one.delta) return [say("pass.since"), " ", time(one.since, { brief: true })];
  return one.why ? sentence(say("pass.whole_why", { why: one.why })) : say("pass.whole");
}

const cell = (column, content, kind) => h("td", { role: "cell", class: kind, "data-label": say(`pass.column.${column}`) }, content);
