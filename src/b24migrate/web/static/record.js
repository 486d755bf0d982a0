// One record: source, staged and target side by side, field by field.
import "./shell.js";
import { get } from "./api.js";
import { h, show } from "./dom.js";
import { bytes, number, time } from "./format.js";
import { recordPath, statusName } from "./groups.js";
import { fieldTable } from "./record-fields.js";
import { FATES, badge, icon } from "./icons.js";
import { brief, folded, sentence, visible } from "./texts.js";
import { hasMessage, nameOf, say } from "./messages.js";

const VERDICTS = {
  equal: ["good", "check"], differs: ["bad", "cross"], missing: ["bad", "bang"], failed: ["bad", "cross"],
  waiting: ["wait", "glass"], linked: ["good", "check"], excluded: ["quiet", "bar"], impossible: ["warn", "bang"],
  deleted: ["quiet", "bar"], unknown: ["quiet", "question"],
};
const FILES = {
  waiting: ["quiet", "ring"], fetched: ["busy", "play"], imported: ["good", "check"], retrying: ["wait", "glass"],
  failed: ["bad", "cross"], unknown: ["quiet", "question"],
};
const place = document.getElementById("record");

async function look() {
  const { stream, sourceId } = place.dataset;
  try {
    shown(await get(recordPath(stream, sourceId)));
  } catch (trouble) {
    show(place, h("h1", {}, say("title.record")), h("p", { class: "said bad" }, icon("cross"), h("span", {}, sentence(trouble.message))),
      trouble.hint ? h("p", { class: "fix" }, sentence(trouble.hint)) : null,
      h("p", {}, h("a", { class: "button", href: "/search" }, say("nav.search"))));
  }
}

function shown(record) {
  const [tone, mark] = VERDICTS[record.verdict] ?? VERDICTS.unknown;
  const title = record.title || record.id;
  document.title = `${visible(title).slice(0, 80)} · b24migrate`;
  show(place,
    h("p", { class: "crumbs" }, nameOf("stream", record.stream), " · ", brief(record.id, 80)),
    h("h1", { class: "record-title" }, brief(title, 160)),
    h("section", { class: "verdict-card", "data-tone": tone, "data-verdict": record.verdict, "aria-label": say("record.verdict_head") },
      icon(mark), h("div", {}, h("p", { class: "verdict-word" }, say(`record.verdict.${record.verdict}`)),
        h("p", {}, say(`record.verdict_about.${isSavedCopy(record) ? "equal_saved" : record.verdict}`)),
        record.changed ? h("p", {}, say("record.changed")) : null,
        record.aside ? h("p", {}, brief(record.aside.reason, 500)) : null)),
    trouble(record),
    facts(record),
    fieldTable(record),
    findings(record.findings),
    files(record),
    places(record.places),
    children(record));
}

/** The source was not queried or did not answer: the staged record is compared with the target. */
const isSavedCopy = (record) => record.verdict === "equal" && record.source.state !== "now";

function trouble(record) {
  const one = record.trouble;
  if (!one && !record.problem) return null;
  return h("section", { class: "card trouble" }, h("h2", {}, say("record.error")),
    record.problem && record.problem !== one?.message ? h("p", {}, sentence(record.problem)) : null,
    one ? [
      h("p", {}, h("code", {}, brief(one.code, 80)), " ", one.at ? time(one.at) : null),
      one.message ? h("p", {}, folded(one.message)) : null,
      one.cause ? h("p", {}, sentence(one.cause)) : null,
      one.fix ? h("p", { class: "fix" }, h("strong", {}, say("errors.fix")), " ", sentence(one.fix)) : null,
      one.again_at ? h("p", {}, say("record.again"), " ", time(one.again_at)) : null,
      h("p", {}, h("a", { href: "/errors" }, say("errors.all")))] : null);
}

function facts(record) {
  const pairs = [
    ["status", record.status ? statusName(record.status) : say("record.not_staged")],
    ["target_id", record.link ? brief(record.link.target_id, 80) : "–"],
    ["origin", record.link && hasMessage(`record.origins.${record.link.origin}`) ? say(`record.origins.${record.link.origin}`) : "–"],
    ["imported_at", record.link?.imported_at ? time(record.link.imported_at) : "–"],
    ["emails", record.emails.length ? record.emails.map((one, at) => [at ? ", " : "", brief(one, 80)]) : "–"],
    ["time", record.times?.utc ? time(record.times.utc) : "–"],
    ["attempts", number(record.attempts)],
    ["revision", number(record.revision)],
  ];
  return h("section", { class: "card" }, h("h2", {}, say("record.facts")),
    h("dl", { class: "pairs wide" }, pairs.map(([key, value]) => h("div", {}, h("dt", {}, say(`record.${key}`)), h("dd", {}, value)))));
}

function findings(found) {
  if (!found.length) return null;
  return h("section", { class: "card" }, h("h2", {}, say("record.findings")), h("ul", { class: "notes" }, found.map((one) => h("li", {},
    badge(FATES[one.fate] ?? FATES.differs, hasMessage(`fate.${one.fate}`) ? say(`fate.${one.fate}`) : one.fate), " ",
    one.field ? h("code", {}, brief(one.field, 80)) : null, " ",
    one.expected || one.actual ? [h("span", { class: "hint" }, say("findings.column.expected"), ": "), brief(one.expected, 200),
      h("span", { class: "hint" }, " ", say("findings.column.actual"), ": "), brief(one.actual, 200)] : null, " ", brief(one.note, 300)))));
}

function files(record) {
  if (!record.files.length) return null;
  const rest = record.files_in_all - record.files.length;
  return h("section", { class: "card" }, h("h2", {}, say("record.files")), h("ul", { class: "lines" }, record.files.map((one) => h("li", {},
    h("span", {}, brief(one.name || one.id, 160), one.size === null ? null : h("span", { class: "hint" }, " ", bytes(one.size)),
      one.error ? h("span", { class: "hint" }, " ", h("code", {}, brief(one.error_code, 60)), " ", brief(one.error, 300)) : null),
    h("span", { class: "line-end" }, badge(FILES[one.state] ?? FILES.unknown, say(`record.file.${one.state}`)))))),
    rest > 0 ? h("p", { class: "hint" }, say("record.more_files", { count: number(rest) })) : null);
}

function places(found) {
  if (!found.length) return null;
  return h("section", { class: "card" }, h("h2", {}, say("record.places")), h("p", { class: "hint" }, say("record.places_about")),
    h("ul", { class: "notes" }, found.map((one) => h("li", {}, h("code", {}, brief(one.place, 200)), " ", brief(one.what, 200)))));
}

function children(record) {
  if (!record.children.length) return null;
  return h("section", { class: "card" }, h("h2", {}, say("record.children")), h("dl", { class: "pairs" },
    record.children.map((one) => h("div", {}, h("dt", {}, nameOf("stream", one.stream)), h("dd", { class: "number" }, number(one.read))))));
}

look();
