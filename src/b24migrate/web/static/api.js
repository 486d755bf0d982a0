// Requests to the API of this server. A refused request throws a Refusal with a hint.
import { language, say } from "./messages.js";

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

/** The server or the network does not answer. */
export class Unreachable extends Error {}

export const get = (path, query = {}, signal = null) => request("GET", path, query, undefined, signal);

export const post = (path, body = {}) => request("POST", path, {}, body, null);

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
  let found;
  try {
    reply = await fetch(url, options);
    found = await reply.json();
  } catch (trouble) {
    if (signal?.aborted) throw trouble;
    if (reply && !reply.ok) throw new Refusal(reply.status, {});
    throw new Unreachable(say("refusal.away"));
  }
  if (reply.ok) return found;
  if (reply.status === 401 && document.documentElement.dataset.page !== "login") openLogin();
  throw new Refusal(reply.status, found ?? {});
}

function openLogin() {
  location.assign(`/login?next=${encodeURIComponent(location.pathname + location.search)}`);
}
