// The front page: loads the overview every two seconds and shows it.
import { session, showUndecided } from "./shell.js";
import { act, showLastAction, tell } from "./actions.js";
import { get } from "./api.js";
import { Chart } from "./chart.js";
import { onAct } from "./dom.js";
import { Entities } from "./entities.js";
import { showLastPass } from "./last-pass.js";
import { poll } from "./poll.js";
import { showProgress } from "./progress.js";
import { showErrorSummary } from "./error-summary.js";
import { showAway, showVerdict } from "./verdict.js";
import { showFiles, showWaits } from "./waits.js";

const ERRORS_EVERY = 5; // looks
const HISTORY_EVERY = 2;
const PASS_EVERY = 5;

const place = (id) => document.getElementById(id);
const chart = new Chart(place("chart"), place("legend"), place("chart-rows"));
const entities = new Entities(place("entities"));
let looks = 0;
let counted = "";
let groups = null;
let last = null;
let refused = ""; // when something was refused here: that stays until something else is begun

async function look() {
  try {
    await once();
  } catch (trouble) {
    showAway(last, trouble);
    throw trouble;
  }
}

async function once() {
  const overview = await get("/overview");
  last = overview;
  showVerdict(overview);
  showProgress(place("progress"), overview);
  entities.show(overview);
  if (overview.last_action && overview.last_action.at > refused) showLastAction(place("result"), overview.last_action);
  showUndecided(overview.undecided);
  showWaits(place("waits"), overview);
  showFiles(place("files"), overview);
  if (looks % PASS_EVERY === 0) showLastPass(place("pass"), await get("/pass"));
  if (looks % HISTORY_EVERY === 0) chart.add((await get("/history", { since: chart.last })).points);
  const count = [overview.failed, overview.retrying, overview.dead_letters].join(" ");
  if (groups === null || count !== counted || (looks % ERRORS_EVERY === 0 && (overview.failed || overview.retrying))) {
    groups = await get("/errors");
    counted = count;
  }
  showErrorSummary(place("errors"), overview, groups);
  looks += 1;
}

const again = poll(look);

session.then((answer) => {
  if (answer?.cannot_start) tell(place("result"), "bad", "bar", answer.cannot_start.message, answer.cannot_start.hint);
});

for (const part of ["actions", "errors"]) {
  onAct(place(part), async (name, element) => {
    const about = { code: element.dataset.code, entities: last.entities.map((one) => one.name) };
    refused = "9"; // no other message is shown while the question stands
    const done = await act(name, place("result"), about);
    refused = done === false ? new Date().toISOString() : "";
    groups = null;
    again();
  });
}
