// Waits of the run, and files.
import { h, show } from "./dom.js";
import { duration, number } from "./format.js";
import { badge, icon } from "./icons.js";
import { brief, sentence } from "./texts.js";
import { say, task } from "./messages.js";

const SHOWN = 5;

export function showWaits(place, overview) {
  const { waits, gates } = overview;
  const nothing = waits.length === 0 && gates.length === 0;
  show(place,
    nothing ? h("p", { class: "quiet-line" }, icon("check", "good"), h("span", {}, say("waits.none"))) : null,
    waits.length ? h("div", { "data-key": "limits" }, h("h3", {}, say("waits.limits")), h("ul", { class: "lines" }, limits(waits))) : null,
    gates.length ? h("div", { "data-key": "gates" }, h("h3", {}, say("waits.gates")), h("ul", { class: "lines" }, alike(gates).map(gateLine))) : null);
}

function limits(waits) {
  const sorted = [...waits].sort((a, b) => b.now - a.now || b.seconds - a.seconds);
  const lines = sorted.slice(0, SHOWN).map((one) => h("li", { "data-key": one.method },
    h("code", {}, brief(one.method, 60)),
    h("span", { class: "line-end" }, one.now ? badge(["wait", "glass"], say("waits.now")) : null,
      h("span", { class: "number" }, duration(one.seconds)))));
  const rest = sorted.length - SHOWN;
  return rest > 0 ? [...lines, h("li", { class: "hint" }, say("waits.more", { count: number(rest) }))] : lines;
}

/** Mini-tasks that wait for the same condition, grouped by it. */
function alike(gates) {
  const found = new Map();
  for (const gate of gates) {
    const why = gate.message || say("waits.after", { names: gate.waits_for.map(task).join(", ") });
    found.set(why, [...(found.get(why) ?? []), task(gate.task)]);
  }
  return [...found];
}

function gateLine([why, tasks]) {
  const rest = tasks.length - SHOWN;
  const names = tasks.slice(0, SHOWN).join(", ");
  return h("li", { "data-key": why, class: "gate" }, h("span", {}, sentence(why)),
    h("span", { class: "hint" }, names, rest > 0 ? [" ", say("waits.more", { count: number(rest) })] : null));
}

export function showFiles(place, { files }) {
  const rows = [["known", files.known], ["fetched", files.fetched], ["imported", files.imported], ["failed", files.failed]];
  show(place, h("dl", { class: "pairs" }, rows.map(([key, value]) => h("div", {
    class: key === "failed" && value ? "bad" : null, "data-key": key,
  }, h("dt", {}, say(`files.${key}`)), h("dd", { class: "number" }, number(value))))));
}
