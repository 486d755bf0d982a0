// Looks again and again: every two seconds while somebody watches, seldom while nobody does, and says when nobody answers.
import { Away, Refusal } from "./asking.js";
import { h, show } from "./dom.js";
import { time } from "./format.js";
import { sign } from "./signs.js";
import { sentence } from "./texts.js";
import { say } from "./words.js";

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
      found();
    } catch (trouble) {
      if (!(trouble instanceof Away || trouble instanceof Refusal)) {
        looking = false;
        throw trouble;
      }
      lost ||= new Date().toISOString();
      missing(lost, trouble);
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

function missing(since, trouble) {
  const place = document.getElementById("connection");
  const away = trouble instanceof Away;
  show(place, sign(away ? "cloud" : "bang"), h("div", {},
    h("strong", {}, away ? say("away.since") : say("away.error"), " ", time(since, { brief: true })),
    h("p", {}, away ? say("away.note") : sentence(`${trouble.message} ${trouble.hint ?? ""}`))));
  place.hidden = false;
  document.documentElement.dataset.stale = "";
}

function found() {
  const place = document.getElementById("connection");
  if (!place.hidden) place.hidden = true;
  delete document.documentElement.dataset.stale;
}
