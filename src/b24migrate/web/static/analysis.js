// The last analysis: the forecast, its basis, the numbers of records, and data that is not migrated.
import "./shell.js";
import { act } from "./actions.js";
import { get } from "./api.js";
import { forecastPart, forecastWas, whatIfs } from "./analysis-forecast.js";
import { fieldsPart, filesPart, largeFilesPart, methodsPart, streamsPart } from "./analysis-tables.js";
import { h, show } from "./dom.js";
import { duration, number, percent, time } from "./format.js";
import { poll } from "./poll.js";
import { icon } from "./icons.js";
import { sentence } from "./texts.js";
import { counted } from "./analysis-format.js";
import { nameOf, say } from "./messages.js";

const EVERY_MS = 5_000;
const place = (id) => document.getElementById(id);
let shownAt = null;

async function look() {
  const answer = await get("/analysis");
  place("analyze").disabled = answer.running;
  place("analyze").textContent = say(answer.running ? "analysis.running" : "analysis.now");
  const now = `${answer.survey?.at} ${answer.running} ${answer.compared.length}`;
  if (now === shownAt) return;
  shownAt = now;
  show(place("analysis"), answer.survey ? surveyParts(answer.survey, answer.compared)
    : h("section", { class: "card empty" }, icon("look"), h("p", {}, say("analysis.none"))));
}

function surveyParts(survey, compared) {
  return [
    h("p", { class: "hint" }, say("analysis.made"), " ", time(survey.at), ". ",
      say("analysis.cost", { share: percent(survey.share), requests: number(survey.requests), took: duration(survey.took_s) })),
    forecastPart(survey.forecast),
    forecastWas(compared),
    whatIfs(survey.forecast),
    behind(survey),
    streamsPart(survey.streams),
    filesPart(survey.files),
    largeFilesPart(survey.large_files),
    people(survey),
    fieldsPart(survey.fields),
    methodsPart(survey.methods),
    basis(survey)];
}

function behind(survey) {
  const lines = [
    ...survey.impossible.map((one) => [counted(one.count), nameOf("stream", one.stream), one.reason]),
    ...(survey.unread_people ? [[counted(survey.unread_people), say("analysis.unread"), ""]] : []),
  ];
  const notes = [...Object.entries(survey.skipped).map(([entity, why]) => `${nameOf("entity", entity)}: ${why}`), ...new Set(survey.warnings)];
  if (!lines.length && !notes.length) return null;
  return h("section", { class: "card" }, h("h2", {}, say("analysis.behind")),
    lines.length ? h("ul", { class: "losses" }, lines.map(([count, what, why]) => h("li", {}, h("span", { class: "group-count number" }, count),
      h("div", {}, h("strong", {}, what), why ? h("p", {}, sentence(why)) : null)))) : null,
    notes.length ? h("ul", { class: "notes" }, notes.map((note) => h("li", {}, icon("bang", "warn"), " ", sentence(note)))) : null);
}

function people(survey) {
  const pipelines = survey.pipelines.map((one) => one.name || one.id);
  const rights = survey.scopes === null ? say("analysis.scopes_untold") : survey.scopes.join(", ");
  const pairs = [
    ["seats", survey.seats ? counted(survey.seats) : "–"],
    ["webhooks", number(survey.webhooks)],
    ["admin", survey.admin === null ? "–" : say(survey.admin ? "yes" : "no")],
    ["scopes", rights],
    ["pipelines", pipelines.length ? `${number(pipelines.length)}: ${pipelines.slice(0, 30).join(", ")}` : "–"],
  ];
  return h("section", { class: "card" }, h("h2", {}, say("analysis.portal")),
    h("dl", { class: "pairs wide" }, pairs.map(([key, value]) => h("div", {}, h("dt", {}, say(`analysis.${key}`)), h("dd", {}, sentence(String(value).slice(0, 2000)))))));
}

function basis(survey) {
  return h("section", { class: "card" }, h("h2", {}, say("analysis.basis")), h("ul", { class: "notes" }, survey.forecast.basis.map((one) => h("li", {}, sentence(one)))));
}

const again = poll(look, { every: EVERY_MS });
place("analyze").addEventListener("click", async () => {
  if (await act("analysis", place("result"))) again();
});
