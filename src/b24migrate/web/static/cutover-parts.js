// The results of the steps: the forecast of the freeze, users who still write, the proof of no changes, the delta runs.
import { h } from "./dom.js";
import { duration, number, time } from "./format.js";
import { badge, icon } from "./icons.js";
import { brief, sentence } from "./texts.js";
import { nameOf, say } from "./messages.js";

const STREAMS_SHOWN = 8;
const WRITERS_SHOWN = 20;

export function parts(view, overview) {
  const current = WORKING.includes(overview.now.verdict) ? overview.run?.id : null;
  return [
    view.late_writers.length || view.watched_until ? lateWriters(view) : null,
    view.quiet || view.certificate ? proof(view) : null,
    view.since && !view.watched_until ? writersPart(view) : null,
    view.forecast && view.took_s === null ? forecast(view) : null,
    view.deltas.length ? deltas(view.deltas, current) : null,
  ];
}

const WORKING = ["beginning", "running", "limited", "outage"];
const card = (key, head, ...content) => h("section", { class: "card", "data-key": key, id: key }, h("h2", {}, head), content);

function forecast({ forecast: made, tomorrow_s: tomorrow }) {
  const share = { delta: duration(made.delta_s), quiet: duration(made.quiet_s), certificate: duration(made.certificate_s) };
  const columns = ["stream", "seconds", "changes", "why"];
  const label = (column) => say(`cutover.forecast.column.${column}`);
  const rest = made.streams.slice(STREAMS_SHOWN);
  const row = (one) => [nameOf("stream", one.stream), duration(one.seconds), number(Math.round(one.changes)),
    one.why ? sentence(one.why) : say("cutover.only_changes")];
  return card("forecast", say("cutover.forecast.head"),
    h("p", { class: "freeze-time" }, duration(made.total_s)),
    h("p", {}, say("cutover.forecast.parts", share)),
    h("p", {}, say("cutover.forecast.changes", { changes: number(Math.round(made.changes)), rate: number(Math.round(made.per_hour)) }),
      tomorrow === null ? null : [" ", say("cutover.forecast.tomorrow", { time: duration(tomorrow) })]),
    made.waits_s >= 1 ? h("p", {}, say("cutover.forecast.waits", { time: duration(made.waits_s) })) : null,
    table(say("cutover.forecast.head"), label, columns, made.streams.slice(0, STREAMS_SHOWN).map(row)),
    rest.length ? h("details", {}, h("summary", {}, say("cutover.forecast.rest", { count: number(rest.length) })),
      table(say("cutover.forecast.head"), label, columns, rest.map(row))) : null,
    h("ul", { class: "notes" }, made.basis.map((one) => h("li", { class: "hint" }, sentence(one)))));
}

function writersPart(view) {
  return card("writers", say("cutover.writers.head"),
    h("p", { class: "hint" }, say("cutover.writers.since"), " ", time(view.since)),
    view.writers.length ? writers(view.writers) : quietLine(say("cutover.writers.none")));
}

function lateWriters(view) {
  return card("late", say("cutover.late.head"),
    view.watched_until ? h("p", { class: "hint" }, say("cutover.late.until"), " ", time(view.watched_until)) : null,
    view.late_writers.length ? writers(view.late_writers) : lateFound(view));
}

/** If no user is known, the last delta run after going live shows whether there were changes. */
function lateFound({ steps, deltas: found }) {
  const live = steps.at(-1).ended;
  const last = found.find((one) => one.started >= live && one.exit_code !== null);
  if (!last) return h("p", { class: "hint" }, say("cutover.late.not_yet"));
  const count = last.changed + last.deleted;
  return count ? h("p", { class: "said warn" }, icon("bang"), h("span", {}, say("cutover.late.unnamed", { count: number(count) }))) : quietLine(say("cutover.late.none"));
}

function writers(found) {
  const rows = found.map((one) => [
    brief(one.name, 100), nameOf("stream", one.stream), number(one.records), one.last ? time(one.last) : say("cutover.writers.undated")]);
  const part = (some) => table(say("cutover.writers.head"), (column) => say(`cutover.writers.column.${column}`), ["name", "stream", "records", "last"], some);
  const rest = rows.slice(WRITERS_SHOWN);
  return [part(rows.slice(0, WRITERS_SHOWN)),
    rest.length ? h("details", {}, h("summary", {}, say("cutover.writers.rest", { count: number(rest.length) })), part(rest)) : null];
}

function proof({ quiet, proven, certificate }) {
  const over = () => h("p", { class: "said warn" }, icon("bang"), h("span", {}, say("cutover.proof.over")));
  return card("proof", say("cutover.proof.head"),
    quiet ? [proven ? quietLine(say("cutover.proof.quiet")) : over(), h("dl", { class: "pairs" },
      pair("as_of", time(quiet.as_of)), pair("freeze", time(quiet.freeze)), pair("full_pass", time(quiet.full_pass)),
      pair("deltas", number(quiet.deltas)), pair("run", h("code", {}, brief(quiet.run, 80))))] : null,
    certificate ? h("dl", { class: "pairs" },
      pair("file", h("code", {}, brief(certificate.file, 300))), pair("root", h("code", { class: "root" }, brief(certificate.root, 100))),
      pair("lines", number(certificate.lines))) : null,
    quiet ? h("p", { class: "hint" }, sentence(say("cutover.proof.unseen"))) : null);
}

const pair = (key, value) => h("div", { "data-key": key }, h("dt", {}, say(`cutover.proof.${key}`)), h("dd", {}, value));

function deltas(found, current) {
  return card("deltas", say("cutover.deltas.head"), table(say("cutover.deltas.head"), (column) => say(`cutover.deltas.column.${column}`), ["started", "result", "changed", "deleted", "streams"], found.map((one) => [
    time(one.started), ended(one, one.run === current), number(one.changed), number(one.deleted),
    Object.entries(one.streams).map(([name, [changed, deleted]]) => `${nameOf("stream", name)} ${number(changed + deleted)}`).join(", ")])));
}

function ended(one, working) {
  if (working) return badge(["busy", "again"], say("cutover.deltas.running"));
  if (one.exit_code === null) return badge(["wait", "glass"], say("cutover.deltas.open"));
  if (one.report_only) return badge(["quiet", "look"], say("cutover.deltas.reported"));
  return one.changed + one.deleted ? badge(["busy", "again"], say("cutover.deltas.brought")) : badge(["good", "check"], say("cutover.deltas.nothing"));
}

const quietLine = (text) => h("p", { class: "quiet-line" }, icon("check", "good"), h("span", {}, text));
const NUMBERS = ["seconds", "changes", "records", "changed", "deleted"];

/** The first column is the header of its row. */
function table(caption, label, columns, rows) {
  const kind = (column) => (NUMBERS.includes(column) ? "number" : "long");
  return h("table", { class: "cards", role: "table" },
    h("caption", { class: "unseen" }, caption),
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" },
      columns.map((column) => h("th", { scope: "col", role: "columnheader", class: kind(column) }, label(column))))),
    h("tbody", { role: "rowgroup" }, rows.map(([first, ...cells]) => h("tr", { role: "row" },
      h("th", { scope: "row", role: "rowheader" }, first),
      cells.map((cell, at) => h("td", { role: "cell", class: kind(columns[at + 1]), "data-label": label(columns[at + 1]) }, cell))))));
}
