// Icons that are clear without colour, drawn in a 24 × 24 box.
import { h, svg } from "./dom.js";

const STROKES = {
  check: ["M5 12.5l4.5 4.5L19 7.5"],
  cross: ["M7 7l10 10", "M17 7L7 17"],
  play: ["M8 5.5l10.5 6.5L8 18.5z"],
  pause: ["M9 6v12", "M15 6v12"],
  stop: ["M7 7h10v10H7z"],
  bar: ["M5.5 12h13"],
  bang: ["M12 5v9", "M12 18.2v.3"],
  question: ["M8.8 9.2a3.3 3.3 0 1 1 4.6 3c-1 .5-1.4 1.1-1.4 2.1", "M12 18v.3"],
  dots: ["M6 12h.1", "M12 12h.1", "M18 12h.1"],
  ring: ["M12 6a6 6 0 1 0 .1 0z"],
  glass: ["M7 4.5h10", "M7 19.5h10", "M8 4.5c0 5 8 10 8 15", "M16 4.5c0 5-8 10-8 15"],
  look: ["M10.5 5.5a5 5 0 1 0 .1 0z", "M14.5 14.5l5 5"],
  again: ["M18 12a6 6 0 1 1-2-4.5", "M18.5 4.5v4h-4"],
  cloud: ["M4.5 4.5l15 15", "M8 16.5h8", "M7 9.5a4 4 0 0 0 0 7", "M9.5 8a5 5 0 0 1 7 3.5 2.8 2.8 0 0 1 2 4"],
  right: ["M9.5 6l6 6-6 6"],
};

/** Hidden from screen readers: a word is next to it. */
export function icon(name, kind = "") {
  const lines = (STROKES[name] ?? STROKES.ring).map((d) => svg("path", { d }));
  return svg("svg", { class: `sign ${kind}`.trim(), viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" }, lines);
}

export const VERDICTS = {
  no_run: ["quiet", "ring"],
  beginning: ["busy", "dots"],
  running: ["busy", "play"],
  limited: ["wait", "glass"],
  outage: ["bad", "cloud"],
  still: ["warn", "question"],
  paused: ["wait", "pause"],
  stopped: ["bad", "stop"],
  blocked: ["bad", "bar"],
  done: ["good", "check"],
  findings: ["warn", "look"],
  away: ["quiet", "cloud"],
};

export const STATES = {
  pending: ["quiet", "ring"],
  running: ["busy", "play"],
  done: ["good", "check"],
  failed: ["bad", "cross"],
  blocked: ["bad", "bar"],
  skipped: ["quiet", "bar"],
};

export const FATES = {
  match: ["good", "check"],
  differs: ["bad", "cross"],
  missing: ["bad", "bang"],
  extra: ["warn", "bang"],
  dangling: ["warn", "question"],
  foreseen: ["quiet", "bar"],
  spared: ["quiet", "check"],
};

/** A small label of a state: icon, word, colour. */
export const badge = ([tone, name], ...words) => h("span", { class: `badge ${tone}` }, icon(name), h("span", {}, words));
