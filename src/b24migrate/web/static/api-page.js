// The API's own description, made readable.
import "./shell.js";
import { get } from "./api.js";
import { h, show } from "./dom.js";
import { sentence } from "./texts.js";
import { say } from "./messages.js";

const VERBS = ["get", "post", "put", "patch", "delete"];
const place = document.getElementById("api");

async function look() {
  try {
    const document_ = await get("/openapi.json");
    const ways = Object.entries(document_.paths).flatMap(([path, item]) => VERBS.filter((verb) => item[verb]).map((verb) => [verb, path, item[verb]]));
    place.lang = "en"; // the description is for programmers, and speaks as they do
    show(place, document_.info?.description ? h("p", {}, sentence(document_.info.description)) : null, ways.map((way) => operation(document_, ...way)));
  } catch (trouble) {
    show(place, h("p", { class: "said bad" }, sentence(trouble.message)));
  }
}

function operation(whole, verb, path, about) {
  const changes = verb !== "get";
  return h("details", { class: "operation" },
    h("summary", {}, h("span", { class: `verb ${verb}` }, verb.toUpperCase()), " ", h("code", {}, path), " ", h("span", {}, about.summary ?? "")),
    about.description ? h("p", {}, sentence(about.description)) : null,
    parameters(about.parameters ?? []),
    about.requestBody ? part(say("api.body"), schemaText(whole, body(about.requestBody))) : null,
    Object.entries(about.responses ?? {}).map(([status, reply]) => part(`${say("api.answer")} ${status}`, schemaText(whole, body(reply)), reply.description)),
    part(say("api.try"), curl(verb, path, changes)));
}

function parameters(list) {
  if (!list.length) return null;
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": say("api.parameters") }, h("table", { class: "plain" },
    h("caption", {}, say("api.parameters")),
    h("thead", {}, h("tr", {}, ["name", "where", "type", "about"].map((name) => h("th", { scope: "col" }, say(`api.${name}`))))),
    h("tbody", {}, list.map((one) => h("tr", {}, h("th", { scope: "row" }, h("code", {}, one.name)), h("td", {}, one.in),
      h("td", {}, typeName(one.schema ?? {})), h("td", {}, sentence(one.description ?? "")))))));
}

const part = (title, text, about = "") => h("div", {}, h("h3", {}, title), about ? h("p", { class: "hint" }, sentence(about)) : null,
  text ? h("pre", { tabindex: "0" }, text) : null);

const body = (holder) => holder.content?.["application/json"]?.schema;

const schemaName = (schema) => schema.$ref?.split("/").at(-1);

const typeName = (schema) => schemaName(schema) ?? schema.type ?? (schema.anyOf ?? []).map(typeName).join(" | ");

/** The shape as an example of itself, a few levels deep. */
function schemaText(whole, schema) {
  return schema ? JSON.stringify(shape(whole, schema, 0), null, 2) : "";
}

function shape(whole, schema, depth) {
  const name = schemaName(schema);
  const real = name ? (whole.components?.schemas?.[name] ?? {}) : schema;
  if (depth > 5) return name ?? "…";
  if (real.anyOf) return shape(whole, real.anyOf[0], depth);
  if (real.enum) return real.enum.join(" | ");
  if (real.type === "array") return [shape(whole, real.items ?? {}, depth + 1)];
  if (real.properties) return Object.fromEntries(Object.entries(real.properties).map(([key, one]) => [key, shape(whole, one, depth + 1)]));
  return real.type ?? "any";
}

function curl(verb, path, changes) {
  const extra = changes ? ` -X ${verb.toUpperCase()} -H 'X-B24migrate: 1' -H 'Content-Type: application/json' -d '{}'` : "";
  return `curl${extra} ${location.origin}${path}`;
}

look();
