// The door: a token, once.
import "./shell.js";
import { command } from "./asking.js";

const place = (id) => document.getElementById(id);

/** A path of this server that means the same however it is read, or the front page: "/.//host/" becomes "//host/". */
function ownPath(next) {
  if (!/^\/(?![/\\])/.test(next) || !URL.canParse(next, location.origin)) return "/";
  const way = new URL(next, location.origin);
  return way.origin === location.origin && way.pathname + way.search === next ? next : "/";
}

async function enter() {
  place("wrong").textContent = "";
  try {
    await command("/login", { token: place("token").value });
    location.assign(ownPath(new URLSearchParams(location.search).get("next") ?? "/"));
  } catch (trouble) {
    place("wrong").textContent = [trouble.message, trouble.hint].filter(Boolean).join(" ");
    place("token").select();
    place("token").focus();
  }
}

place("login").addEventListener("submit", (event) => {
  event.preventDefault();
  enter();
});

// `b24migrate serve` prints an address with the token behind the "#": no server and no log ever sees that part
const shown = decodeURIComponent(location.hash.slice(1));
if (shown) {
  history.replaceState(null, "", location.pathname + location.search);
  place("token").value = shown;
  enter();
}
