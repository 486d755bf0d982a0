// Records per second from growing counters, for the chart and its table.
import { ms } from "./format.js";

/** `points` as the server keeps them, oldest first, joined to at most `most` stretches of time. */
export function stretches(points, most) {
  const step = Math.max(1, Math.ceil((points.length - 1) / most));
  const found = [];
  for (let end = points.length - 1; end > 0; end -= step) {
    const begin = Math.max(0, end - step);
    found.push(stretch(points[begin], points[end]));
  }
  return found.reverse().filter((one) => one.to > one.from);
}

function stretch(before, after) {
  const from = ms(before.at);
  const to = ms(after.at);
  const seconds = Math.max(0.001, (to - from) / 1000);
  const grown = (name) => Math.max(0, after[name] - before[name]) / seconds; // never less: a new run begins anew
  return { from, to, read: grown("read"), imported: grown("imported"), waited: Math.max(0, after.waited_s - before.waited_s) };
}

/** Round numbers from 0 to beyond `highest`. */
export function ticks(highest, wanted = 4) {
  const rough = Math.max(highest, 1) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough));
  const count = Math.max(1, Math.ceil(highest / step));
  return Array.from({ length: count + 1 }, (_, at) => at * step);
}
