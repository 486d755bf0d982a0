// Errors on the front page: the most frequent causes with their fixes, failed jobs, findings.
import { h, show } from "./dom.js";
import { number } from "./format.js";
import { groupCard } from "./groups.js";
import { icon } from "./icons.js";
import { say } from "./messages.js";

const SHOWN = 3;

export function showErrorSummary(place, overview, { groups, dead_letters: letters }) {
  const { can } = overview;
  const rest = groups.length - SHOWN;
  show(place,
    groups.length || letters.length ? null
      : h("p", { class: "quiet-line", "data-key": "none" }, icon("check", "good"), h("span", {}, say("errors.none"))),
    groups.slice(0, SHOWN).map((group) => groupCard(group, { places: false, retry: can.includes("retry") })),
    rest > 0 ? h("p", { "data-key": "rest" }, h("a", { href: "/errors" }, say("errors.rest", { count: number(rest) }))) : null,
    h("ul", { class: "doors", "data-key": "doors" },
      summaryLink("letters", "/errors#letters-head", "again", number(overview.dead_letters), say("letters.count"),
        overview.dead_letters && can.includes("retry") ? h("button", { type: "button", class: "button", "data-act": "retry" }, say("action.retry.name")) : null),
      summaryLink("findings", "/findings", "look", number(overview.findings), say("findings.count")),
      overview.undecided ? summaryLink("undecided", "/conflicts", "question", number(overview.undecided), say("conflicts.count")) : null,
      summaryLink("retrying", "/errors", "glass", number(overview.retrying), say("errors.retrying"))));
}

const summaryLink = (key, href, mark, count, label, button = null) => h("li", { "data-key": key },
  h("a", { href }, icon(mark), h("span", { class: "door-count number" }, count), h("span", {}, label)), button);
