// Numbers, times and sizes as people of the page's language write them.
import { h } from "./dom.js";
import { language, say } from "./messages.js";

/** Thousands are separated by a narrow space in every language, as in the sentences of the server. */
function numbers(options) {
  const formatter = new Intl.NumberFormat(language, options);
  const written = ({ type, value }) => (type === "group" ? "\u202f" : value);
  return { format: (value) => formatter.formatToParts(value).map(written).join("") };
}

const whole = numbers({ maximumFractionDigits: 0 });
const tenths = numbers({ maximumFractionDigits: 1, minimumFractionDigits: 1 });
const moment = new Intl.DateTimeFormat(language, {
  day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short", hourCycle: "h23",
});
const hours = new Intl.DateTimeFormat(language, {
  hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short", hourCycle: "h23",
});
const short = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const shortest = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });

export const NONE = "–";

export const number = (value) => (value === null || value === undefined ? NONE : whole.format(value));

/** A rate: small ones with their tenths. */
export function rate(value) {
  if (value === null || value === undefined) return NONE;
  return value > 0 && value < 10 ? tenths.format(value) : whole.format(value);
}

export const decimal = (value, digits) =>
  numbers({ minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);

/** Never "100 %" before the end, never "0 %" after the beginning. */
export function percent(share) {
  const honest = share > 0 && share < 0.01 ? 1 : Math.floor(share * 100);
  return say("percent", { number: whole.format(honest) });
}

export const signedPercent = (share) =>
  say("percent", { number: `${share < 0 ? "−" : "+"}${whole.format(Math.abs(share) * 100)}` });

/** "0.4 s", "45 s", "12 min", "2 h 10 min": as the server writes it (messages/measures.py). */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return NONE;
  if (seconds >= 0.05 && seconds < 0.95) return say("time.seconds", { s: tenths.format(seconds) });
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return say("time.seconds", { s });
  const minutes = Math.floor(s / 60);
  if (minutes < 10 && s % 60) return say("time.minutes_seconds", { m: minutes, s: s % 60 });
  if (minutes < 60) return say("time.minutes", { m: minutes });
  const h = Math.floor(minutes / 60);
  if (h < 24) return say("time.hours", { h, m: minutes % 60 });
  const days = Math.floor(h / 24);
  return say("time.days", { d: whole.format(days), h: h % 24 });
}

export function bytes(count) {
  let value = count;
  for (const unit of ["B", "kB", "MB", "GB", "TB"]) {
    if (value < 1000 || unit === "TB") {
      return say(`size.${unit}`, { n: unit === "B" || unit === "kB" ? whole.format(value) : tenths.format(value) });
    }
    value /= 1000;
  }
  return NONE;
}

const read = (utc) => new Date(/[Zz]|[+-]\d\d:?\d\d$/.test(utc) ? utc : `${utc}Z`);

/** A moment in the browser's zone, named; UTC in its tooltip. */
export function time(utc, { brief = false } = {}) {
  const date = read(utc || "");
  if (Number.isNaN(date.getTime())) return h("span", {}, utc || NONE);
  const today = date.toDateString() === new Date().toDateString();
  const text = (brief && today ? hours : moment).format(date);
  return h("time", { datetime: date.toISOString(), title: utcText(date) }, text);
}

export const utcText = (date) => `${date.toISOString().replace("T", " ").slice(0, 19)} UTC`;
export const clock = (ms, spanMs) => (spanMs < 10 * 60e3 ? shortest : short).format(new Date(ms));
export const zone = () => hours.formatToParts(new Date()).find((part) => part.type === "timeZoneName")?.value ?? "";
export const ms = (utc) => read(utc).getTime();
