// Start, pause, resume, retry: asks for confirmation, sends the request, shows the result.
import { Refusal, get, post } from "./api.js";
import { confirm } from "./dialog.js";
import { h, show } from "./dom.js";
import { acceptFields } from "./fidelity.js";
import { time } from "./format.js";
import { icon } from "./icons.js";
import { sentence } from "./texts.js";
import { hasMessage, nameOf, say } from "./messages.js";

const PATIENCE_MS = 3_000;

/** The body of each action. */
const BODIES = {
  run: (data, about) => {
    const chosen = data.getAll("entity");
    const all = chosen.length === about.entities.length;
    const limit = Number.parseInt(data.get("limit"), 10);
    return {
      entities: all ? [] : chosen,
      phases: [],
      test_limit: Number.isNaN(limit) ? null : limit,
      accept_fidelity: data.get("accept") ?? "",
    };
  },
  pause: () => ({}),
  resume: () => ({}),
  retry: (_, about) => ({ entities: [], code: about.code }),
  analysis: () => ({}),
};

/** Asks, does it, and tells the result in `place`. True when it was done, false when it was refused, null when not asked for. `about.code` narrows a retry to one cause;
 * `about.entities` are the entities that a run may be limited to. */
export async function act(name, place, { code = "", entities = [] } = {}) {
  const about = { code, entities, kept: name === "run" ? await loadFidelity() : null };
  const data = await confirm(question(name, about));
  if (data === null) return null;
  tell(place, "wait", "dots", say("action.working"));
  try {
    const reply = await post(`/${name}`, BODIES[name](data, about));
    tell(place, "good", "check", reply.message || say(`action.${name}.done`));
    return true;
  } catch (trouble) {
    const hint = trouble instanceof Refusal ? trouble.hint : "";
    tell(place, "bad", "cross", trouble.message, hint);
    return false;
  }
}

/** Null if there is no answer soon: then the gate of the run asks. */
const loadFidelity = () => get("/fidelity", {}, AbortSignal.timeout(PATIENCE_MS)).catch(() => null);

function question(name, about) {
  const lines = [say(about.code ? "action.retry.what_code" : `action.${name}.what`, about)];
  const fields = name === "run" ? [...runOptions(about.entities), ...acceptFields(about.kept)] : [];
  return { title: say(`action.${name}.question`), lines, go: say(`action.${name}.go`), fields };
}

function runOptions(entities) {
  const boxes = entities.map((entity) => h("label", { class: "tick" },
    h("input", { type: "checkbox", name: "entity", value: entity, checked: true }), nameOf("entity", entity)));
  return [
    h("details", {}, h("summary", {}, say("action.run.choose")),
      h("fieldset", {}, h("legend", { class: "unseen" }, say("action.run.entities")), h("div", { class: "ticks" }, boxes))),
    h("label", { class: "field" }, say("action.run.limit"),
      h("input", { type: "number", name: "limit", min: "0", max: "1000000", inputmode: "numeric", placeholder: say("action.run.all") })),
  ];
}

export function tell(place, tone, mark, message, hint = "") {
  place.dataset.tone = tone;
  show(place, h("div", { class: "said" }, icon(mark), h("div", {},
    h("p", {}, sentence(message), " ", h("span", { class: "hint" }, time(new Date().toISOString(), { brief: true }))),
    hint ? h("p", { class: "fix" }, sentence(hint)) : null)));
}

// ---------------------------------------------------------------- the last action, also one that was started on another page

const ENDINGS = { 0: ["good", "check", "well"], 3: ["wait", "pause", "held"], 4: ["bad", "stop", "stopped"], 5: ["warn", "look", "findings"] };
const RUNNING = ["busy", "play", "under_way"];

/** One line, and why it ended where there is more to say. */
export function showLastAction(place, action) {
  const [tone, mark, how] = action.exit_code === null ? RUNNING : (ENDINGS[action.exit_code] ?? ["bad", "cross", "failed"]);
  const what = hasMessage(`last.what.${action.what}`) ? say(`last.what.${action.what}`) : action.what;
  place.dataset.tone = tone;
  show(place, h("div", { class: "said" }, icon(mark), h("div", {},
    h("p", {}, say(`last.${how}`, { what }), " ", h("span", { class: "hint" }, time(action.at, { brief: true }))),
    action.message ? h("p", { class: "why" }, sentence(action.message)) : null,
    action.hint ? h("p", { class: "fix" }, sentence(action.hint)) : null)));
}
