// Failures with one code: their number, cause and fix, and the button to retry them.
import { h } from "./dom.js";
import { number } from "./format.js";
import { badge } from "./icons.js";
import { brief, sentence } from "./texts.js";
import { hasMessage, nameOf, say, task } from "./messages.js";

export function groupCard(group, { places, retry }) {
  const tone = group.waits ? ["wait", "glass"] : ["bad", "cross"];
  return h("article", { class: "group", "data-key": `${group.code} ${group.waits}`, "data-code": group.code },
    h("div", { class: "group-head" },
      h("span", { class: "group-count number" }, number(group.count)),
      h(places ? "h2" : "h3", {}, h("span", {}, group.title || group.code), " ", h("code", {}, brief(group.code, 60))),
      badge(tone, say(group.waits ? "errors.waits" : "errors.failed")),
      group.waits || !retry ? null : h("button", { type: "button", class: "button", "data-act": "retry", "data-code": group.code },
        say("errors.retry"), h("span", { class: "unseen" }, ` ${group.code}`))),
    group.cause ? h("p", {}, sentence(group.cause)) : null,
    group.fixes.map((fix) => h("p", { class: "fix" }, h("strong", {}, say("errors.fix")), " ", sentence(fix))),
    places && group.first.length ? firstList(group.first) : null,
    places ? placeTable(group.places) : null);
}

function firstList(records) {
  return [h("p", { "data-key": "first" }, h("strong", {}, say("errors.first"))),
    h("ul", { class: "first", "data-key": "first-list" }, records.map((one) => h("li", { "data-key": `${one.stream} ${one.id}` },
      h("a", { href: recordPath(one.stream, one.id) }, nameOf("stream", one.stream), " ", brief(one.id, 60)), ". ",
      say("errors.waiting", { count: number(one.records) }), ". ", brief(one.message, 200))))];
}

function placeTable(places) {
  return h("table", { class: "cards", role: "table" },
    h("caption", { class: "unseen" }, say("errors.places")),
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" },
      ["place", "count", "status", "example", "message"].map((column) => h("th", {
        scope: "col", role: "columnheader", class: column === "count" ? "number" : null,
      }, say(`errors.column.${column}`))))),
    h("tbody", { role: "rowgroup" }, places.map((place) => h("tr", { role: "row", "data-key": `${place.place} ${place.status}` },
      h("th", { scope: "row", role: "rowheader" }, placeName(place)),
      cell("count", number(place.count), "number"),
      cell("status", statusName(place.status)),
      cell("example", example(place)),
      cell("message", brief(place.message, 300), "long")))));
}

const cell = (column, content, kind = null) =>
  h("td", { role: "cell", class: kind, "data-label": say(`errors.column.${column}`) }, content);

const placeName = (place) => (place.stream ? nameOf("stream", place.stream) : task(place.place));
export const statusName = (status) => (hasMessage(`status.${status}`) ? say(`status.${status}`) : status);

function example(place) {
  if (!place.stream || !place.example) return brief(place.example, 60);
  return h("a", { href: recordPath(place.stream, place.example) }, brief(place.example, 60));
}

export const recordPath = (stream, id) => `/records/${encodeURIComponent(stream)}/${encodeURIComponent(id)}`;
