// How far, how long still, how fast.
import { h, show } from "./dom.js";
import { duration, number, percent, rate } from "./format.js";
import { sentence } from "./texts.js";
import { say } from "./words.js";

export function showProgress(place, overview) {
  const { progress, speed } = overview;
  const of = progress.total === null ? say("progress.of_unknown", { done: number(progress.done) })
    : say("progress.of", { done: number(progress.done), total: number(progress.total) });
  show(place,
    h("div", { class: "figures" },
      figure("share", percent(progress.share), of, "huge"),
      figure("left", left(overview), overview.progress_sentence, "huge")),
    h("progress", { class: "bar", max: "1", value: String(progress.share), "aria-label": say("progress.head") }, percent(progress.share)),
    h("div", { class: "figures small" },
      figure("read", perSecond(speed.read), say("speed.read")),
      figure("imported", perSecond(speed.imported), say("speed.imported")),
      figure("verified", perSecond(speed.verified), say("speed.verified")),
      figure("failed", number(overview.failed), say("figures.failed"), overview.failed ? "bad" : ""),
      figure("findings", number(overview.findings), say("figures.findings"), overview.findings ? "warn" : ""),
      overview.workers === null ? null : figure("workers", number(overview.workers), say("figures.workers"))));
}

function left(overview) {
  const over = ["done", "findings"].includes(overview.now.verdict);
  if (over) return say("progress.over");
  return overview.progress.left_s === null ? say("progress.left_unknown") : duration(overview.progress.left_s);
}

const perSecond = (value) => say("speed.per_second", { number: rate(value) });

function figure(key, value, label, kind = "") {
  return h("div", { class: `figure ${kind}`.trim(), "data-key": key, "data-figure": key },
    h("div", { class: "figure-value" }, value), h("div", { class: "figure-label" }, sentence(label)));
}
