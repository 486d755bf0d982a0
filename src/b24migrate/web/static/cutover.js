// Leads through the cutover: the next step as one button, the checklist, and the results of the steps.
import "./shell.js";
import { act, showLastAction, tell } from "./actions.js";
import { Refusal, get, post } from "./api.js";
import { parts } from "./cutover-parts.js";
import { confirm } from "./dialog.js";
import { h, onAct, show } from "./dom.js";
import { duration, number, time } from "./format.js";
import { icon } from "./icons.js";
import { poll } from "./poll.js";
import { sentence } from "./texts.js";
import { say } from "./messages.js";

const EVERY_MS = 4_000;
const SIGNS = { done: ["good", "check"], under_way: ["wait", "glass"], open: ["quiet", "ring"] };
const place = (id) => document.getElementById(id);
let view = null;
let overview = null;
let quiet = false; // while a question stands, or a refusal is shown, no other message is shown

async function look() {
  [view, overview] = await Promise.all([get("/cutover"), get("/overview")]);
  const able = overview.can.includes("cutover");
  showNext(able);
  show(place("checklist"), h("ol", { class: "card checklist" }, view.steps.map((step) => checklistItem(step, able))));
  show(place("parts"), parts(view, overview));
  if (!quiet && overview.last_action) showLastAction(place("result"), overview.last_action);
}

// ---------------------------------------------------------------- the next step

function showNext(able) {
  const running = isRunning();
  const step = view.steps.find((one) => one.name === view.next);
  const head = running ? say("cutover.next.running") : view.next ? say("cutover.next.head", { step: nameOf(view.next) }) : say("cutover.next.over");
  const live = view.steps.at(-1).state === "done";
  const begun = view.steps.find((one) => one.state === "under_way");
  const about = running ? begun && say(`cutover.about.${begun.name}`) : !view.next ? say("cutover.next.over_about") : live ? say("cutover.next.watch_about") : say(`cutover.about.${view.next}`);
  show(place("next"),
    h("div", {}, h("h2", {}, live && view.next && !running ? say("cutover.next.watch") : head), about ? h("p", {}, about) : null,
      running ? h("p", {}, h("a", { href: "/" }, say("cutover.next.progress"))) : null,
      overview.undecided && !live ? h("p", {}, h("a", { href: "/conflicts" }, say("cutover.next.undecided", { count: number(overview.undecided) }))) : null,
      !running && step && !live && step.why_not ? h("p", { class: "hint" }, sentence(step.why_not)) : null,
      !running && !able && view.command ? h("p", { class: "hint" }, sentence(say("cutover.next.command", { command: `\`${view.command}\`` }))) : null),
    able && view.next ? h("div", { class: "next-buttons" }, live ? button("watch", "watch", true) : [
      button(view.next, `${view.next}_go`, true, step && !step.can_start),
      view.next !== "full_pass" ? button("sync", "sync") : null]) : null);
}

/** Whether the dashboard has started something that has not ended. */
const isRunning = () => overview.last_action?.exit_code === null;
const stateOf = (step) => say(`cutover.state.${step.state === "under_way" && isRunning() ? "running" : step.state}`);

const button = (name, key, strong = false, disabled = false) => h("button", {
  type: "button", class: strong ? "button strong" : "button", "data-key": name, "data-act": name, disabled,
}, say(`cutover.button.${key}`));

// ---------------------------------------------------------------- the checklist

const nameOf = (step) => say(`cutover.step.${step}`);

function checklistItem(step, able) {
  const [tone, mark] = SIGNS[step.state] ?? SIGNS.open;
  return h("li", { "data-key": step.name, "data-step": step.name, "data-state": step.state, class: step.name === view.next ? "current" : null },
    h("span", { class: tone }, icon(mark, "step-sign")),
    h("div", {}, h("h3", {}, nameOf(step.name), h("span", { class: "unseen" }, `: ${stateOf(step)}`)),
      h("p", {}, say(`cutover.about.${step.name}`)), times(step),
      step.message ? h("p", { class: "said warn" }, icon("bang"), h("span", {}, sentence(step.message))) : null),
    step.can_undo && able ? h("button", { type: "button", class: "button", "data-key": "undo", "data-act": "undo", "data-undo": step.name },
      say("cutover.button.undo"), h("span", { class: "unseen" }, ` ${nameOf(step.name)}`)) : null);
}

function times(step) {
  if (!step.began) return null;
  const by = step.by === "dashboard" ? say("cutover.by_dashboard") : step.by;
  const line = [stateOf(step), " ", time(step.ended || step.began, { brief: true })];
  if (by) line.push(" · ", h("bdi", {}, by));
  if (step.took_s) line.push(" · ", say("cutover.took", { time: duration(step.took_s) }));
  return h("p", { class: "hint" }, line);
}

// ---------------------------------------------------------------- buttons

/** For steps to confirm: the question, and the text of the checkbox. */
function question(name) {
  const title = say(`cutover.question.${name}`);
  const lines = [say(`cutover.ask.${name}`)];
  const go = say(`cutover.button.${name}_go`);
  const tick = (text) => h("label", { class: "tick" }, h("input", { type: "checkbox", name: "sure", value: "yes", required: true }), text);
  if (name === "freeze") {
    const machines = h("ul", { class: "machines" }, view.machines.map((one) => h("li", {}, one)));
    return { title, lines, go, fields: [machines, tick(say("cutover.tick.freeze"))] };
  }
  return { title, lines, go, fields: name === "live" ? [tick(say("cutover.tick.live"))] : [] };
}

async function send(path, body) {
  tell(place("result"), "wait", "dots", say("action.working"));
  try {
    const reply = await post(path, body);
    tell(place("result"), "good", "check", reply.message);
    quiet = false;
  } catch (trouble) {
    tell(place("result"), "bad", "cross", trouble.message, trouble instanceof Refusal ? trouble.hint : "");
  }
}

const WORK = {
  full_pass: async () => {
    quiet = (await act("run", place("result"), { entities: overview.entities.map((one) => one.name) })) === false;
  },
  sync: () => send("/sync", { report_only: false }),
  watch: () => send("/sync", { report_only: true }),
};

async function clicked(name, element) {
  quiet = true;
  if (name === "undo") {
    const step = element.dataset.undo;
    const sure = await confirm({ title: say("cutover.question.undo", { step: nameOf(step) }), lines: [say("cutover.ask.undo")], go: say("cutover.button.undo") });
    if (sure) await send("/cutover/undo", { step });
    else quiet = false;
  } else if (name in WORK) {
    await WORK[name]();
  } else if (await confirm(question(name))) {
    await send("/cutover", { step: name, confirmed: true });
  } else quiet = false;
  again();
}

onAct(place("next"), clicked);
onAct(place("checklist"), clicked);
const again = poll(look, { every: EVERY_MS });
