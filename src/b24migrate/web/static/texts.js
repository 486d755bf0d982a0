// Texts from the portals, shown as plain text. Invisible characters are written as codes; long texts are cut.
import { h } from "./dom.js";
import { number } from "./format.js";
import { say } from "./messages.js";

// control characters, and marks that turn the direction of a text around or cannot be seen
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;
const HALVES = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

const written = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

export const visible = (text) => String(text).replace(UNSEEN, written).replace(HALVES, written);

/** A text on one line, at most `length` long. Its direction is its own affair. */
export function brief(text, length = 120) {
  const whole = String(text ?? "");
  const some = visible(whole.slice(0, length).replace(/\r\n?/g, "\n")).replace(/\s+/g, " ");
  return h("bdi", {}, whole.length > length ? `${some}…` : some);
}

/** A sentence of the server: text between backquotes is a command. */
export function sentence(text) {
  return String(text ?? "").split("`").map((part, place) => (place % 2 ? h("code", {}, visible(part)) : visible(part)));
}

/** A value; a long one is folded. `length`: of the whole, where the server sent only its beginning. */
export function folded(text, length = text.length, shown = 240) {
  if (text.length <= shown && length <= text.length) return h("bdi", { class: "value" }, visible(text));
  const rest = length > text.length ? say("fold.cut", { shown: number(text.length), all: number(length) }) : "";
  return h("details", { class: "fold" },
    h("summary", {}, h("bdi", { class: "value" }, visible(text.slice(0, shown)), "…"), " ",
      h("span", { class: "hint" }, say("fold.all", { all: number(length) }))),
    h("bdi", { class: "value whole" }, visible(text)), rest ? h("p", { class: "hint" }, rest) : null);
}
