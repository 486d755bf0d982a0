// Requests to our own server. Every refusal is a Refusal with what to do about it.
import { language, say } from "./words.js";

const ROOT = "/api/v1";
const PATIENCE_MS = 15_000;

export class Refusal extends Error {
  constructor(status, body) {
    super(body.message || say("refusal.unknown", { status }));
    this.status = status;
    this.code = body.code || "";
    this.hint = body.hint || "";
  }
}

/** Nobody answers: the server is away, or the network is. */
export class Away extends Error {}

export const ask = (path, query = {}, signal = null) => request("GET", path, query, undefined, signal);

export const command = (path, body = {}) => request("POST", path, {}, body, null);

async function request(method, path, query, body, signal) {
  const url = new URL(ROOT + path, location.origin);
  for (const [name, value] of Object.entries({ ...query, lang: language })) {
    if (value !== "" && value !== null && value !== undefined) url.searchParams.set(name, value);
  }
  const patience = AbortSignal.timeout(PATIENCE_MS);
  const options = { method, headers: { Accept: "application/json" }, signal: signal ? AbortSignal.any([signal, patience]) : patience };
  if (method !== "GET") {
    options.headers["X-B24migrate"] = "1";
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  let reply;
  let said;
  try {
    reply = await fetch(url, options);
    said = await reply.json();
  } catch (trouble) {
    if (signal?.aborted) throw trouble;
    if (reply && !reply.ok) throw new Refusal(reply.status, {});
    throw new Away(say("refusal.away"));
  }
  if (reply.ok) return said;
  if (reply.status === 401 && document.documentElement.dataset.page !== "login") toTheDoor();
  throw new Refusal(reply.status, said ?? {});
}

function toTheDoor() {
  location.assign(`/login?next=${encodeURIComponent(location.pathname + location.search)}`);
}
