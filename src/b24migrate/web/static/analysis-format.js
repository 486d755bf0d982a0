// How estimates are shown: exact where everything was counted.
import { duration, number } from "./format.js";
import { hasMessage, say } from "./messages.js";

export const counted = (one) => (one.exact ? number(one.value) : say("about", { number: number(one.value) }));
export const ranged = (one, shown = number) => (one.exact ? null : say("range", { low: shown(one.low), high: shown(one.high) }));
export const timeRange = (low, high) => say("range", { low: duration(low), high: duration(high) });

/** The limit that a part of the work waits for most, and its method. */
export function limitedBy(one) {
  const key = `analysis.limited.${String(one.limited_by).replaceAll(" ", "_")}`;
  return [hasMessage(key) ? say(key) : one.limited_by, one.method].filter(Boolean);
}
