// The forecast as bars: how long each entity takes, in which parts, between which ends, and what limits it.
import { limitedBy, timeRange } from "./analysis-format.js";
import { h, svg } from "./dom.js";
import { duration, number, signedPercent } from "./format.js";
import { sentence } from "./texts.js";
import { hasMessage, nameOf, say } from "./messages.js";

const PARTS = { // what is shown as one: the times it is made of
  fields: ["fields_s"], read: ["get_s"], files: ["fetch_s", "upload_s"], import: ["set_s", "late_s"], verify: ["verify_s"],
};
const WIDTH = 1000;

export function forecastPart(forecast) {
  const [why, method] = limitedBy(forecast);
  const longest = Math.max(1e-9, ...forecast.entities.map((one) => Math.max(one.high_s, spent(one))));
  return h("section", { class: "card forecast" }, h("h2", {}, say("analysis.forecast")),
    h("p", { class: "forecast-total" }, say("about", { number: duration(forecast.total_s) })),
    h("p", { class: "lead" }, say("analysis.between", { range: timeRange(forecast.low_s, forecast.high_s) }), " ",
      why ? [say("analysis.limited_by", { why }), method ? [" ", h("code", {}, method)] : null, "."] : null),
    h("div", { class: "legend" }, Object.keys(PARTS).map((part) => h("span", {}, svg("svg", { class: "sample", viewBox: "0 0 28 10", "aria-hidden": "true" },
      svg("rect", { class: `part ${part}`, x: 0, y: 0, width: 28, height: 10 })), say(`analysis.part.${part}`)))),
    h("table", { class: "cards bars", role: "table" },
      h("caption", { class: "unseen" }, say("analysis.forecast")),
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, ["entity", "bar", "time", "range", "limit"].map((name) => h("th", {
        scope: "col", role: "columnheader", class: name === "time" || name === "range" ? "number" : null,
      }, say(`analysis.column.${name}`))))),
      h("tbody", { role: "rowgroup" }, forecast.entities.map((one) => row(one, longest)))),
    h("p", { class: "hint" }, say("analysis.side_by_side")));
}

const lasts = (one, part) => PARTS[part].reduce((sum, name) => sum + (one[name] ?? 0), 0);
const spent = (one) => Object.keys(PARTS).reduce((sum, part) => sum + lasts(one, part), 0);

function row(one, longest) {
  const [why, method] = limitedBy(one);
  return h("tr", { role: "row", "data-entity": one.entity },
    h("th", { scope: "row", role: "rowheader" }, nameOf("entity", one.entity)),
    cell("bar", bar(one, longest), "bar-cell"),
    cell("time", duration(spent(one)), "number"),
    cell("range", timeRange(one.low_s, one.high_s), "number"),
    cell("limit", [why, method ? [" ", h("code", {}, method)] : null], "long"));
}

const cell = (name, content, kind = null) => h("td", { role: "cell", class: kind, "data-label": say(`analysis.column.${name}`) }, content);

function bar(one, longest) {
  const x = (seconds) => Math.round((WIDTH * seconds) / longest);
  let at = 0;
  const parts = Object.keys(PARTS).filter((part) => lasts(one, part) > 0).map((part) => {
    const rect = svg("rect", { class: `part ${part}`, x: x(at), y: 3, width: Math.max(2, x(lasts(one, part))), height: 14 });
    at += lasts(one, part);
    return rect;
  });
  const label = Object.keys(PARTS).map((part) => `${say(`analysis.part.${part}`)} ${duration(lasts(one, part))}`).join(", ");
  return svg("svg", { viewBox: `0 0 ${WIDTH} 20`, preserveAspectRatio: "none", role: "img", "aria-label": label, class: "bar-picture" },
    parts, svg("path", { class: "whisker", d: `M${x(one.low_s)} 10H${x(one.high_s)}M${x(one.low_s)} 5V15M${x(one.high_s)} 5V15` }));
}

export function whatIfs(forecast) {
  if (!forecast.what_ifs.length) return null;
  return h("section", { class: "card" }, h("h2", {}, say("analysis.what_ifs")), h("ul", { class: "what-ifs" },
    forecast.what_ifs.map((one) => h("li", {}, h("span", { class: "what-if-time" }, duration(one.total_s)),
      h("span", {}, hasMessage(`analysis.what_if.${one.name}`) ? say(`analysis.what_if.${one.name}`) : one.name),
      one.note ? h("span", { class: "hint" }, sentence(one.note)) : null))));
}

/** After a run: first how near the forecast of everything was, then, behind one click, phase by phase. */
export function forecastWas(compared) {
  if (!compared.length) return null;
  const whole = compared.find((one) => !one.entity && one.phase === "run");
  const rows = compared.filter((one) => one !== whole);
  return h("section", { class: "card", id: "compared" }, h("h2", {}, say("analysis.compared")),
    whole ? [
      h("p", { class: "what-if-time" }, errorClass(whole.error)),
      h("p", { class: "lead" }, say("analysis.compared_whole", { forecast: duration(whole.foretold_s), took: duration(whole.took_s) })),
    ] : h("p", { class: "lead" }, say("analysis.compared_not_yet")),
    rows.length ? h("details", {}, h("summary", {}, say("analysis.compared_parts", { count: number(rows.length) })), comparedTable(rows)) : null);
}

function errorClass(error) {
  if (Math.abs(error) < 0.005) return say("analysis.error_none");
  const number = say("percent", { number: Math.max(1, Math.round(Math.abs(error) * 100)) });
  return say(error > 0 ? "analysis.error_long" : "analysis.error_short", { number });
}

function comparedTable(rows) {
  const columns = ["entity", "phase", "forecast", "took", "error"];
  return h("table", { class: "cards", role: "table" }, h("caption", { class: "unseen" }, say("analysis.compared")),
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, columns.map((name, at) => h("th", { scope: "col", role: "columnheader", class: at > 1 ? "number" : null }, say(`analysis.column.${name}`))))),
    h("tbody", { role: "rowgroup" }, rows.map((one) => h("tr", { role: "row" },
      h("th", { scope: "row", role: "rowheader" }, one.entity ? nameOf("entity", one.entity) : say("analysis.everything")),
      cell("phase", nameOf("phase", one.phase)), cell("forecast", duration(one.foretold_s), "number"),
      cell("took", duration(one.took_s), "number"), cell("error", signedPercent(one.error), "number")))));
}
