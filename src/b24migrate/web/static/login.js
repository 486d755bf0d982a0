// The login with the token.
import "./shell.js";
import { post } from "./api.js";
import { localPath } from "./local-path.js";

const place = (id) => document.getElementById(id);

async function enter() {
  place("wrong").textContent = "";
  try {
    await post("/login", { token: place("token").value });
    location.assign(localPath(new URLSearchParams(location.search).get("next") ?? "/", location.origin));
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
place("go").disabled = false; // before, Enter would post the form past this script

// `b24migrate serve` prints an address with the token behind the "#": no server and no log ever sees that part
const shown = decodeURIComponent(location.hash.slice(1));
if (shown) {
  history.replaceState(null, "", location.pathname + location.search);
  place("token").value = shown;
  enter();
}
