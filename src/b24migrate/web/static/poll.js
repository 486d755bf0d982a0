// Reloads a page every two seconds, less often in a hidden tab, and shows when the server does not answer.
import { Unreachable, Refusal } from "./api.js";
import { h, show } from "./dom.js";
import { time } from "./format.js";
import { icon } from "./icons.js";
import { sentence } from "./texts.js";
import { say } from "./messages.js";

const EVERY_MS = 2_000;
const HIDDEN_MS = 15_000;
const SLOW = 5; // a look that takes long is followed by a pause so many times as long

export function poll(look, { every = EVERY_MS } = {}) {
  let timer = 0;
  let lost = "";
  let looking = false;

  const again = async () => {
    if (looking) return;
    looking = true;
    clearTimeout(timer);
    const began = performance.now();
    try {
      await look();
      lost = "";
      hideLost();
    } catch (trouble) {
      if (!(trouble instanceof Unreachable || trouble instanceof Refusal)) {
        looking = false;
        throw trouble;
      }
      lost ||= new Date().toISOString();
      showLost(lost, trouble);
    }
    looking = false;
    const pause = document.hidden ? HIDDEN_MS : Math.max(every, SLOW * (performance.now() - began));
    timer = setTimeout(again, Math.min(pause, HIDDEN_MS));
  };

  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) again();
  });
  again();
  return again;
}

function showLost(since, trouble) {
  const place = document.getElementById("connection");
  const away = trouble instanceof Unreachable;
  show(place, icon(away ? "cloud" : "bang"), h("div", {},
    h("strong", {}, away ? say("away.since") : say("away.error"), " ", time(since, { brief: true })),
    h("p", {}, away ? say("away.note") : sentence(`${trouble.message} ${trouble.hint ?? ""}`))));
  place.hidden = false;
  document.documentElement.dataset.stale = "";
}

function hideLost() {
  const place = document.getElementById("connection");
  if (!place.hidden) place.hidden = true;
  delete document.documentElement.dataset.stale;
}
