// Decides conflicts: some records, all undecided ones a page at a time, or by a table that was filled in.
import { get, post } from "./api.js";
import { say } from "./messages.js";

const AT_ONCE = 500;
const PART_BYTES = 40_000; // a request has at most 64 KB

export const decide = (decision, records) =>
  post("/conflicts", { decision, records: records.map((one) => ({ stream: one.stream, source_id: one.source_id })) });

/** Calls `tell` with how many are decided so far. */
export async function decideAll(decision, stream, tell) {
  let done = 0;
  let left = 0;
  let after = "";
  do {
    const page = await get("/conflicts", { stream, undecided: true, after, limit: AT_ONCE });
    if (page.conflicts.length) {
      const reply = await decide(decision, page.conflicts);
      done += reply.decided;
      left += reply.not_decided.length;
    }
    tell(done);
    after = page.next ?? "";
  } while (after);
  return { done, left };
}

/** The table goes in parts, each with the first line. */
export async function decideByTable(file, tell) {
  const rows = splitRows(await readText(file));
  const first = rows.shift() ?? "";
  let done = 0;
  let left = 0;
  do {
    const reply = await post("/conflicts/csv", { csv: first + takePart(rows, first) });
    done += reply.decided;
    left += reply.not_decided.length;
    tell(done);
  } while (rows.length);
  return { done, left };
}

async function readText(file) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    throw new Error(say("conflicts.not_utf8"));
  }
}

/** A line break between quotes belongs to the row; a quote inside a value is doubled. */
function splitRows(text) {
  const rows = [];
  let row = "";
  let quotes = 0;
  for (const line of text.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    row += line;
    quotes += line.split('"').length - 1;
    if (quotes % 2) continue;
    rows.push(row);
    row = "";
    quotes = 0;
  }
  return row ? [...rows, row] : rows;
}

function takePart(rows, first) {
  const size = (text) => new TextEncoder().encode(JSON.stringify(text)).length;
  let taken = "";
  let bytes = size(first);
  while (rows.length) {
    const more = size(rows[0]);
    if (taken && bytes + more > PART_BYTES) break;
    taken += rows.shift();
    bytes += more;
  }
  return taken;
}
