// The door: a token, once.
import "./shell.js";
import { command } from "./asking.js";
import { ownPath } from "./own-path.js";

const place = (id) => document.getElementById(id);

async function enter() {
  place("wrong").textContent = "";
  try {
    await command("/login", { token: place("token").value });
    location.assign(ownPath(new URLSearchParams(location.search).get("next") ?? "/", location.origin));
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
