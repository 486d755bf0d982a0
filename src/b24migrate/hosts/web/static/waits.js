// What the work waits for, and the files.
import { h, show } from "./dom.js";
import { duration, number } from "./format.js";
import { badge, sign } from "./signs.js";
import { brief, sentence } from "./texts.js";
import { say, task } from "./words.js";

const SHOWN = 5;

export function showWaits(place, overview) {
  const { waits, gates, files } = overview;
  const nothing = waits.length === 0 && gates.length === 0;
  show(place,
    nothing ? h("p", { class: "quiet-line" }, sign("check", "good"), h("span", {}, say("waits.none"))) : null,
    waits.length ? h("div", { "data-key": "limits" }, h("h3", {}, say("waits.limits")), h("ul", { class: "lines" }, limits(waits))) : null,
    gates.length ? h("div", { "data-key": "gates" }, h("h3", {}, say("waits.gates")), h("ul", { class: "lines" }, gates.map(gateLine))) : null,
    h("div", { "data-key": "files" }, h("h3", {}, say("files.head")), fileLines(files)));
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

function gateLine(gate) {
  const names = gate.waits_for.map((name) => task(name)).join(", ");
  return h("li", { "data-key": gate.task, class: "gate" }, h("strong", {}, task(gate.task)),
    h("span", {}, gate.message ? sentence(gate.message) : say("waits.after", { names })));
}

function fileLines(files) {
  const rows = [["known", files.known], ["fetched", files.fetched], ["imported", files.imported], ["failed", files.failed]];
  return h("dl", { class: "pairs" }, rows.map(([key, value]) => h("div", {
    class: key === "failed" && value ? "bad" : null, "data-key": key,
  }, h("dt", {}, say(`files.${key}`)), h("dd", { class: "number" }, number(value)))));
}
