// All failures by cause, with every record; and failed jobs.
import "./shell.js";
import { act } from "./actions.js";
import { get } from "./api.js";
import { h, onAct, show } from "./dom.js";
import { time } from "./format.js";
import { groupCard } from "./groups.js";
import { poll } from "./poll.js";
import { icon } from "./icons.js";
import { brief, sentence } from "./texts.js";
import { say, task } from "./messages.js";

const EVERY_MS = 5_000;
const place = (id) => document.getElementById(id);

async function look() {
  const [{ groups, dead_letters: letters }, { can }] = await Promise.all([get("/errors", { chains: true }), get("/overview")]);
  const retry = can.includes("retry");
  show(place("groups"), groups.length ? groups.map((group) => groupCard(group, { places: true, retry }))
    : h("p", { class: "quiet-line" }, icon("check", "good"), h("span", {}, say("errors.none"))));
  place("letters-part").hidden = letters.length === 0;
  show(place("letters"), letters.length ? [
    retry ? h("p", {}, h("button", { type: "button", class: "button", "data-act": "retry" }, say("letters.retry"))) : null,
    h("ul", { class: "letters" }, letters.map(letter))] : null);
}

function letter(one) {
  return h("li", { "data-key": `${one.job} ${one.at}` },
    h("strong", {}, task(one.task)), " ", h("code", {}, brief(one.code, 60)), " ", time(one.at),
    h("p", {}, sentence(String(one.reason).slice(0, 500))), h("p", { class: "hint" }, brief(one.job, 200)));
}

const again = poll(look, { every: EVERY_MS });
for (const part of ["groups", "letters"]) {
  onAct(place(part), async (name, element) => {
    if (await act(name, place("result"), { code: element.dataset.code })) again();
  });
}
