// The differences that verify found, by record type and kind, page by page.
import "./shell.js";
import { get } from "./api.js";
import { h, show } from "./dom.js";
import { number } from "./format.js";
import { recordPath } from "./groups.js";
import { FATES, badge, icon } from "./icons.js";
import { brief, sentence } from "./texts.js";
import { hasMessage, nameOf, say } from "./messages.js";

const LIMIT = 50;
const place = (id) => document.getElementById(id);
const filters = new URLSearchParams(location.search);
let rows = [];
let next = null;
let asked = 0;

async function streams() {
  const { entities } = await get("/overview");
  const names = entities.flatMap((entity) => entity.streams.map((stream) => stream.name));
  place("stream").append(...names.map((name) => h("option", { value: name }, nameOf("stream", name))));
  choose();
}

function choose() {
  for (const name of ["stream", "fate"]) {
    const select = place(name);
    const value = filters.get(name) ?? "";
    select.value = [...select.options].some((option) => option.value === value) ? value : "";
  }
}

async function look(after = "") {
  const mine = ++asked;
  try {
    const answer = await get("/findings", { stream: filters.get("stream"), fate: filters.get("fate"), after, limit: LIMIT });
    if (mine !== asked) return; // another filter was chosen meanwhile
    rows = after ? [...rows, ...answer.findings] : answer.findings;
    next = answer.next;
    if (answer.next && rows.length < LIMIT && answer.findings.length === 0) return look(next); // a stretch without any
    const shown = number(rows.length);
    place("total").textContent = answer.total === null ? say("findings.shown", { shown }) : say("findings.total", { shown, total: number(answer.total) });
    place("more").hidden = !next;
    show(place("findings"), rows.length ? table() : h("p", { class: "quiet-line" }, icon("check", "good"), h("span", {}, say("findings.none"))));
  } catch (trouble) {
    show(place("findings"), h("p", { class: "said bad" }, sentence(`${trouble.message} ${trouble.hint ?? ""}`)));
  }
}

function table() {
  const columns = ["fate", "record", "field", "expected", "actual", "note"];
  return h("table", { class: "cards findings", role: "table" },
    h("caption", { class: "unseen" }, say("findings.head")),
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" },
      columns.map((column) => h("th", { scope: "col", role: "columnheader" }, say(`findings.column.${column}`))))),
    h("tbody", { role: "rowgroup" }, rows.map((one) => h("tr", { role: "row" },
      cell("fate", badge(FATES[one.fate] ?? FATES.differs, hasMessage(`fate.${one.fate}`) ? say(`fate.${one.fate}`) : one.fate)),
      h("th", { scope: "row", role: "rowheader", "data-label": say("findings.column.record") }, record(one)),
      cell("field", h("code", {}, brief(one.field, 60))),
      cell("expected", brief(one.expected, 200)), cell("actual", brief(one.actual, 200)), cell("note", brief(one.note, 300))))));
}

const cell = (column, content) => h("td", { role: "cell", class: "long", "data-label": say(`findings.column.${column}`) }, content);

function record(one) {
  const text = [nameOf("stream", one.stream), " ", one.source_id === "*" ? say("findings.whole") : brief(one.source_id, 60)];
  return one.source_id && one.source_id !== "*" ? h("a", { href: recordPath(one.stream, one.source_id) }, text) : text;
}

function remember() {
  const query = filters.toString();
  history.replaceState(null, "", query ? `?${query}` : location.pathname);
}

place("filters").addEventListener("change", (event) => {
  filters.set(event.target.name, event.target.value);
  if (!event.target.value) filters.delete(event.target.name);
  remember();
  look();
});
place("filters").addEventListener("submit", (event) => event.preventDefault());
place("more").addEventListener("click", () => look(next));
choose();
streams().catch(() => {}); // without them all streams are shown together
look();
