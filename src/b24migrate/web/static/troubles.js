// The errors on the front page: the most frequent causes with what to do, dead letters, findings.
import { h, show } from "./dom.js";
import { number } from "./format.js";
import { groupCard } from "./groups.js";
import { sign } from "./signs.js";
import { say } from "./words.js";

const SHOWN = 3;

export function showTroubles(place, overview, { groups, dead_letters: letters }) {
  const { can } = overview;
  const rest = groups.length - SHOWN;
  show(place,
    groups.length || letters.length ? null
      : h("p", { class: "quiet-line", "data-key": "none" }, sign("check", "good"), h("span", {}, say("errors.none"))),
    groups.slice(0, SHOWN).map((group) => groupCard(group, { places: false, retry: can.includes("retry") })),
    rest > 0 ? h("p", { "data-key": "rest" }, h("a", { href: "/errors" }, say("errors.rest", { count: number(rest) }))) : null,
    h("ul", { class: "doors", "data-key": "doors" },
      door("letters", "/errors#letters-head", "again", number(overview.dead_letters), say("letters.count"),
        overview.dead_letters && can.includes("retry") ? h("button", { type: "button", class: "button", "data-act": "retry" }, say("action.retry.name")) : null),
      door("findings", "/findings", "look", number(overview.findings), say("findings.count")),
      door("retrying", "/errors", "glass", number(overview.retrying), say("errors.retrying"))));
}

const door = (key, href, mark, count, label, button = null) => h("li", { "data-key": key },
  h("a", { href }, sign(mark), h("span", { class: "door-count number" }, count), h("span", {}, label)), button);
