// The first line: the state with colour, icon and word, and the possible actions.
import { h, show } from "./dom.js";
import { time } from "./format.js";
import { VERDICTS, icon } from "./icons.js";
import { sentence } from "./texts.js";
import { say } from "./messages.js";

const place = (id) => document.getElementById(id);
const RESTING = ["stopped", "blocked", "done", "findings"]; // the others' sentences say it
const WAYS = { start: "run", pause: "pause", resume: "resume", retry: "retry" };

export function showVerdict(overview) {
  const { verdict, since } = overview.now;
  headline(verdict);
  const moment = since && RESTING.includes(verdict) ? [" ", h("span", { class: "since" }, say("since"), " ", time(since, { brief: true }))] : [];
  show(place("sentence"), sentence(overview.sentence), moment);
  showActions(overview.can);
  document.title = `${say(`verdict.${verdict}`)} · b24migrate`;
}

export function showAway(last) {
  headline("away");
  const when = last ? [say("away.numbers"), " ", time(last.at, { brief: true })] : [say("away.none")];
  show(place("sentence"), when);
  document.title = `${say("verdict.away")} · b24migrate`;
}

function headline(verdict) {
  const [tone, mark] = VERDICTS[verdict] ?? VERDICTS.no_run;
  place("hero").dataset.tone = tone;
  place("hero").dataset.verdict = verdict;
  show(place("hero-sign"), icon(mark));
  show(place("verdict"), say(`verdict.${verdict}`));
}

/** The one that leads on keeps its place, so that it keeps the focus after a click. */
function showActions(can) {
  const order = ["pause", "resume", "start", "retry"].filter((name) => can.includes(name));
  const buttons = order.map((name, at) => h("button", {
    type: "button",
    class: at === 0 && name !== "retry" ? "button strong" : "button",
    "data-key": at === 0 ? "main" : name,
    "data-act": WAYS[name],
  }, say(`action.${WAYS[name]}.name`)));
  show(place("actions"), buttons);
}
