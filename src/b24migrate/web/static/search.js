// Search by ID, title or e-mail. The server searches for one second per request; the page repeats until all is searched.
import "./shell.js";
import { get } from "./api.js";
import { h, show } from "./dom.js";
import { number } from "./format.js";
import { recordPath, statusName } from "./groups.js";
import { badge } from "./icons.js";
import { brief, sentence } from "./texts.js";
import { nameOf, say } from "./messages.js";

const MOST = 100;
const STATUSES = { NEW: ["quiet", "ring"], IMPORT_OK: ["good", "check"], IMPORT_ERR: ["bad", "cross"], ERROR_RETRY: ["wait", "glass"] };
const place = (id) => document.getElementById(id);
let stop = null;

async function look(text) {
  stop?.abort();
  const mine = new AbortController();
  stop = mine;
  const found = [];
  let looked = 0;
  let after = "";
  place("stop").hidden = false;
  try {
    do {
      const answer = await get("/search", { q: text, after }, mine.signal);
      found.push(...answer.hits);
      looked += answer.looked_at;
      after = answer.next ?? "";
      tell(looked, found, Boolean(after), text);
    } while (after && found.length < MOST);
    if (after) place("looked").textContent = say("search.too_many", { count: number(found.length) });
  } catch (trouble) {
    if (mine.signal.aborted) {
      if (stop === mine) place("looked").textContent = say("search.stopped", { looked: number(looked), found: number(found.length) });
      return;
    }
    place("looked").textContent = "";
    show(place("hits"), h("p", { class: "said bad" }, sentence(`${trouble.message} ${trouble.hint ?? ""}`)));
  } finally {
    if (stop === mine) place("stop").hidden = true;
  }
}

function tell(looked, found, more, text) {
  const places = { looked: number(looked), found: number(found.length) };
  place("looked").textContent = say(more ? "search.looking" : found.length ? "search.found" : "search.nothing", places);
  show(place("hits"), found.length ? h("ul", { class: "hits" }, found.map(resultRow)) : null);
}

function resultRow(one) {
  return h("li", { "data-key": `${one.stream} ${one.id}` },
    h("a", { href: recordPath(one.stream, one.id) },
      h("span", { class: "hit-title" }, one.title ? brief(one.title, 160) : say("search.untitled")),
      h("span", { class: "hit-place" }, nameOf("stream", one.stream), " · ", brief(one.id, 60),
        one.email ? [" · ", brief(one.email, 80)] : null)),
    badge(STATUSES[one.status] ?? STATUSES.NEW, statusName(one.status)));
}

place("search").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = place("q").value.trim();
  if (!text) return;
  history.replaceState(null, "", `?${new URLSearchParams({ q: text })}`);
  look(text);
});
place("stop").addEventListener("click", () => {
  stop?.abort();
  place("q").focus();
});

const asked = new URLSearchParams(location.search).get("q") ?? "";
if (asked) {
  place("q").value = asked;
  look(asked);
} else {
  place("q").focus();
}
