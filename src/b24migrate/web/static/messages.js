// The messages of the page in its language. The server puts them into the page.

const store = document.getElementById("words");
const topic = (name) => Object.fromEntries(Object.entries(JSON.parse(store.dataset[name] ?? "{}")).map(([key, word]) => [`${name}.${key}`, word]));
const page = { ...JSON.parse(store.dataset.page), ...topic("fidelity"), ...topic("cutover") };
const names = JSON.parse(store.dataset.names);

export const language = document.documentElement.lang || "en";

/** The message with its values. Values are not expanded again. */
export function say(key, places = {}) {
  const template = page[key];
  if (template === undefined) throw new Error(`There is no message "${key}".`);
  return template.replace(/\{(\w+)\}/g, (whole, name) => (name in places ? String(places[name]) : whole));
}

export const hasMessage = (key) => page[key] !== undefined;

/** The display name of an entity, stream, phase or state; without one, its own name. */
export const nameOf = (kind, name) => names[`${kind}.${name}`] ?? name;

/** A mini-task by its two names: "crm-deals-get". */
export function task(text) {
  const found = /^(.*?)-(custom-fields-get|custom-fields-set|get|set|late|verify)$/.exec(text);
  if (!found) return nameOf("entity", text);
  return say("task", { entity: nameOf("entity", found[1].replaceAll("-", "_")), phase: nameOf("phase", found[2]) });
}
