// The page's words, in the language it was written in. The server puts them beside the page.

const store = document.getElementById("words");
const fidelity = Object.entries(JSON.parse(store.dataset.fidelity)).map(([key, word]) => [`fidelity.${key}`, word]);
const page = { ...JSON.parse(store.dataset.page), ...Object.fromEntries(fidelity) };
const names = JSON.parse(store.dataset.names);

export const language = document.documentElement.lang || "en";

/** A word with its places filled in; what is filled in is not looked at again. */
export function say(key, places = {}) {
  const template = page[key];
  if (template === undefined) throw new Error(`There is no word "${key}".`);
  return template.replace(/\{(\w+)\}/g, (whole, name) => (name in places ? String(places[name]) : whole));
}

export const known = (key) => page[key] !== undefined;

/** What an entity, a stream, a phase or a state is called; its own name where there is no other. */
export const named = (kind, name) => names[`${kind}.${name}`] ?? name;

/** A mini-task by its two names: "crm-deals-get". */
export function task(text) {
  const found = /^(.*?)-(custom-fields-get|custom-fields-set|get|set|late|verify)$/.exec(text);
  if (!found) return named("entity", text);
  return say("task", { entity: named("entity", found[1].replaceAll("-", "_")), phase: named("phase", found[2]) });
}
