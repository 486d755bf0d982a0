// Elements made from names, attributes and texts. Nothing here reads markup from data.

const SVG = "http://www.w3.org/2000/svg";
// allowed links: our own pages, places on this page, and portals
const WAYS = /^(\/(?![/\\])|#|\?|https?:\/\/)/i;

export const h = (tag, attributes, ...children) => made(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) => made(document.createElementNS(SVG, tag), attributes, children);

function made(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on") || name === "style") throw new Error(`No attribute ${name} here.`);
    if ((name === "href" || name === "src") && !WAYS.test(value)) continue;
    element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false));
  return element;
}

/** Changes the content of `place` to `children` and keeps existing elements: focus, open rows and the scroll position
 * stay unchanged. */
export function show(place, ...children) {
  const wanted = document.createElement("div");
  wanted.append(...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false));
  alikeInside(place, wanted);
}

function alikeInside(place, wanted) {
  const keyed = new Map();
  for (const child of place.children) if (child.dataset.key) keyed.set(child.dataset.key, child);
  let here = place.firstChild;
  for (const want of [...wanted.childNodes]) {
    const mine = (want.dataset?.key && keyed.get(want.dataset.key)) || here;
    if (mine && fits(mine, want)) {
      if (mine !== here) place.insertBefore(mine, here);
      else here = here.nextSibling;
      alike(mine, want);
    } else {
      place.insertBefore(want, here);
    }
  }
  while (here) {
    const next = here.nextSibling;
    here.remove();
    here = next;
  }
}

const fits = (mine, want) => mine.nodeName === want.nodeName && mine.dataset?.key === want.dataset?.key;

function alike(mine, want) {
  if (mine.nodeType === Node.TEXT_NODE) {
    if (mine.data !== want.data) mine.data = want.data;
    return;
  }
  for (const { name } of [...mine.attributes]) {
    if (!want.hasAttribute(name) && !(mine.nodeName === "DETAILS" && name === "open")) mine.removeAttribute(name);
  }
  for (const { name, value } of want.attributes) {
    if (mine.getAttribute(name) !== value) mine.setAttribute(name, value);
  }
  alikeInside(mine, want);
}

/** Calls `act` for a click on anything inside `place` that has `data-act`. */
export function onAct(place, act) {
  place.addEventListener("click", (event) => {
    const element = event.target.closest("[data-act]");
    if (element && place.contains(element)) act(element.dataset.act, element);
  });
}
