// The door: a token, once.
import "./shell.js";
import { command } from "./asking.js";

const place = (id) => document.getElementById(id);

place("login").addEventListener("submit", async (event) => {
  event.preventDefault();
  place("wrong").textContent = "";
  try {
    await command("/login", { token: place("token").value });
    const next = new URLSearchParams(location.search).get("next") ?? "/";
    const way = new URL(next, location.origin);
    location.assign(way.origin === location.origin ? way.pathname + way.search : "/");
  } catch (trouble) {
    place("wrong").textContent = [trouble.message, trouble.hint].filter(Boolean).join(" ");
    place("token").select();
    place("token").focus();
  }
});
