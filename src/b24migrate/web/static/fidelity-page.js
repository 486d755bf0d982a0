// The page of the fidelity list.
import "./shell.js";
import { tell } from "./actions.js";
import { Refusal, get, post } from "./api.js";
import { h, show } from "./dom.js";
import { notes, table, verdict } from "./fidelity.js";
import { sentence } from "./texts.js";
import { say } from "./messages.js";

const place = (id) => document.getElementById(id);
let list = null;

async function look() {
  try {
    const answer = await get("/fidelity");
    list = answer.list;
    show(place("fidelity"), verdict(answer), list?.lines.length ? table(list) : null, notes(answer));
    const open = list?.needs_acceptance;
    show(place("accept"), open ? h("button", { type: "button", class: "button strong" }, say("fidelity.tick")) : null);
  } catch (trouble) {
    show(place("fidelity"), h("p", { class: "said bad" }, sentence(`${trouble.message} ${trouble.hint ?? ""}`)));
  }
}

place("accept").addEventListener("click", async (event) => {
  if (!event.target.closest("button")) return;
  try {
    const reply = await post("/fidelity", { hash: list.hash });
    tell(place("result"), "good", "check", reply.message);
  } catch (trouble) {
    tell(place("result"), "bad", "cross", trouble.message, trouble instanceof Refusal ? trouble.hint : "");
  }
  look();
});
look();
