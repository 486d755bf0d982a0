// Changes on both sides, page by page, and the decisions.
import { showUndecided } from "./shell.js";
import { tell } from "./actions.js";
import { Refusal, get } from "./api.js";
import { decide, decideAll, decideByTable } from "./conflict-decisions.js";
import { table } from "./conflict-table.js";
import { confirm } from "./dialog.js";
import { h, onAct, show } from "./dom.js";
import { number } from "./format.js";
import { icon } from "./icons.js";
import { sentence } from "./texts.js";
import { nameOf, say } from "./messages.js";

const LIMIT = 50;
const place = (id) => document.getElementById(id);
const filters = new URLSearchParams(location.search);
let rows = [];
let next = null;
let answer = null;
let asked = 0;

const undecidedOnly = () => filters.get("show") !== "all";

async function look(after = "") {
  const mine = ++asked;
  try {
    const found = await get("/conflicts", { stream: filters.get("stream"), undecided: undecidedOnly(), after, limit: LIMIT });
    if (mine !== asked) return; // another filter was chosen meanwhile
    if (!found.undecided && found.total && !filters.has("show")) {
      filters.set("show", "all"); // nothing to decide: what was decided
      return look();
    }
    answer = found;
    rows = after ? [...rows, ...found.conflicts] : found.conflicts;
    next = found.next;
    if (next && !rows.length) return look(next); // a stretch without any
    showAll();
  } catch (trouble) {
    show(place("conflicts"), h("p", { class: "said bad" }, sentence(`${trouble.message} ${trouble.hint ?? ""}`)));
  }
}

function showAll() {
  const total = undecidedOnly() ? answer.undecided : answer.total;
  place("total").textContent = answer.total
    ? say("conflicts.total", { shown: number(rows.length), total: number(Math.max(total, rows.length)), undecided: number(answer.undecided) }) : "";
  place("more").hidden = !next;
  show(place("policy"), sentence(say(`conflicts.policy.${answer.policy}`)));
  show(place("conflicts"), rows.length ? table(rows)
    : h("p", { class: "quiet-line" }, icon("check", "good"), h("span", {}, say(answer.total ? "conflicts.none_undecided" : "conflicts.none"))));
  show(place("all"), answer.undecided ? [
    h("span", {}, say("conflicts.for_all", { count: number(answer.undecided) })),
    ["source", "target"].map((one) => h("button", { type: "button", class: "button", "data-key": one, "data-act": one }, say(`conflicts.take.${one}`)))] : null);
  const query = new URLSearchParams({ ...(filters.get("stream") ? { stream: filters.get("stream") } : {}), undecided: undecidedOnly() });
  place("download").setAttribute("href", `/api/v1/conflicts/csv?${query}`);
  choose();
  if (!filters.get("stream")) showUndecided(answer.undecided);
}

function choose() {
  for (const name of ["stream", "show"]) {
    const select = place(name);
    const value = filters.get(name) ?? "";
    select.value = [...select.options].some((option) => option.value === value) ? value : select.options[0].value;
  }
}

async function streams() {
  const { entities } = await get("/overview");
  const names = entities.flatMap((entity) => entity.streams).filter((stream) => stream.conflicts).map((stream) => stream.name);
  place("stream").append(...names.map((name) => h("option", { value: name }, nameOf("stream", name))));
  choose();
}

// ---------------------------------------------------------------- decisions

/** Tells the result, also that nothing came of it. */
async function attempt(work) {
  tell(place("result"), "wait", "dots", say("action.working"));
  try {
    await work();
  } catch (trouble) {
    tell(place("result"), "bad", "cross", trouble.message, trouble instanceof Refusal ? trouble.hint : "");
  }
}

/** One record stays where it is, so that the decision can be changed. */
async function decideOne(decision, stream, id) {
  const reply = await decide(decision, [{ stream, source_id: id }]);
  if (!reply.decided) {
    tell(place("result"), "warn", "question", say("conflicts.left", { count: 1 }));
    return look();
  }
  const mark = { decision, by: "person", at: new Date().toISOString(), undecided: false, waiting: decision === "source" };
  const before = rows.find((one) => one.stream === stream && one.source_id === id);
  rows = rows.map((one) => (one === before ? { ...one, ...mark } : one));
  answer = { ...answer, undecided: answer.undecided - (before?.undecided ? 1 : 0) };
  tell(place("result"), "good", "check", reply.message);
  showAll();
  showUndecided(reply.undecided);
}

async function many(work) {
  const { done, left } = await work((count) => tell(place("result"), "wait", "dots", say("conflicts.so_far", { count: number(count) })));
  const hint = left ? say("conflicts.left", { count: number(left) }) : say("conflicts.run");
  tell(place("result"), left ? "warn" : "good", left ? "question" : "check", say("conflicts.done", { count: number(done) }), hint);
  rows = [];
  await look();
}

onAct(place("conflicts"), (decision, button) => attempt(() => decideOne(decision, button.dataset.stream, button.dataset.id)));
onAct(place("all"), async (decision) => {
  const count = number(answer.undecided);
  const lines = [say(`conflicts.all_about.${decision}`), say("conflicts.until_run")];
  const sure = await confirm({ title: say("conflicts.all_question", { count }), lines, go: say(`conflicts.take.${decision}`) });
  if (sure) attempt(() => many((report) => decideAll(decision, filters.get("stream") ?? "", report)));
});
place("load").addEventListener("click", () => place("file").click());
place("file").addEventListener("change", async () => {
  const [file] = place("file").files;
  if (file) await attempt(() => many((report) => decideByTable(file, report)));
  place("file").value = "";
});

place("filters").addEventListener("change", (event) => {
  if (!event.target.name) return;
  filters.set(event.target.name, event.target.value);
  if (!event.target.value) filters.delete(event.target.name);
  history.replaceState(null, "", `?${filters}`);
  rows = [];
  look();
});
place("filters").addEventListener("submit", (event) => event.preventDefault());
place("more").addEventListener("click", () => look(next));
choose();
streams().catch(() => {}); // without them all streams are shown together
look();
