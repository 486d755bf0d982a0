// What became of the last thing that was begun from a page, also when it was begun on another one.
import { h, show } from "./dom.js";
import { time } from "./format.js";
import { sign } from "./signs.js";
import { sentence } from "./texts.js";
import { known, say } from "./words.js";

const ENDINGS = { 0: ["good", "check", "well"], 3: ["wait", "pause", "held"], 4: ["bad", "stop", "stopped"], 5: ["warn", "look", "findings"] };
const UNDER_WAY = ["busy", "play", "under_way"];

/** One line, and why it ended where there is more to say. */
export function showLastAction(place, action) {
  const [tone, mark, how] = action.exit_code === null ? UNDER_WAY : (ENDINGS[action.exit_code] ?? ["bad", "cross", "failed"]);
  const what = known(`last.what.${action.what}`) ? say(`last.what.${action.what}`) : action.what;
  place.dataset.tone = tone;
  show(place, h("div", { class: "said" }, sign(mark), h("div", {},
    h("p", {}, say(`last.${how}`, { what }), " ", h("span", { class: "hint" }, time(action.at, { brief: true }))),
    action.message ? h("p", { class: "why" }, sentence(action.message)) : null,
    action.hint ? h("p", { class: "fix" }, sentence(action.hint)) : null)));
}
