// Progress, time left, speed.
import { h, show } from "./dom.js";
import { duration, number, percent, rate } from "./format.js";
import { sentence } from "./texts.js";
import { say } from "./messages.js";

export function showProgress(place, overview) {
  const { progress, speed } = overview;
  const of = overview.run?.delta && overview.run.state !== "ended" ? found(overview) : all(progress);
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

function all(progress) {
  const places = { read: number(progress.read), imported: number(progress.imported), records: number(progress.records) };
  return say(progress.records === null ? "progress.of_unknown" : "progress.of", places);
}

/** The number of records that a delta run reads is unknown. The number of found and unsent ones is known. */
function found(overview) {
  const streams = overview.entities.filter((one) => one.planned).flatMap((one) => one.streams);
  const waiting = streams.reduce((sum, one) => sum + one.staged - one.imported - one.failed, 0);
  return say("progress.of_delta", { count: number(waiting) });
}

const MOVING = ["beginning", "running", "limited", "outage"];

function left(overview) {
  const { verdict } = overview.now;
  if (["done", "findings"].includes(verdict)) return say("progress.over");
  if (!MOVING.includes(verdict) && verdict !== "no_run") return say("progress.resting");
  return overview.progress.left_s === null ? say("progress.left_unknown") : duration(overview.progress.left_s);
}

const perSecond = (value) => say("speed.per_second", { number: rate(value) });

function figure(key, value, label, kind = "") {
  return h("div", { class: `figure ${kind}`.trim(), "data-key": key, "data-figure": key },
    h("div", { class: "figure-value" }, value), h("div", { class: "figure-label" }, sentence(label)));
}
