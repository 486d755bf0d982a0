// The parts of every page: the switches in the header and the footer.
import { get, post } from "./api.js";
import { h, show } from "./dom.js";
import { number } from "./format.js";
import { visible } from "./texts.js";
import { say } from "./messages.js";

const THEMES = ["system", "light", "dark"];
const KEPT = "b24migrate.theme";

function themes() {
  const button = document.getElementById("theme");
  const root = document.documentElement;
  const tell = () => {
    const now = root.dataset.theme || "system";
    button.dataset.now = now;
    button.textContent = button.dataset[now];
  };
  button.addEventListener("click", () => {
    const next = THEMES[(THEMES.indexOf(root.dataset.theme || "system") + 1) % THEMES.length];
    if (next === "system") delete root.dataset.theme;
    else root.dataset.theme = next;
    try {
      localStorage.setItem(KEPT, next);
    } catch {
      // not kept, but followed on this page
    }
    tell();
  });
  tell();
}

function languages() {
  for (const link of document.querySelectorAll("[data-language]")) {
    link.addEventListener("click", () => {
      const query = new URLSearchParams(location.search);
      query.set("lang", link.dataset.language);
      link.href = `?${query}${location.hash}`;
    });
  }
}

function leaving() {
  document.getElementById("leave")?.addEventListener("click", async () => {
    await post("/logout");
    location.assign("/login");
  });
}

/** The server's version, store and portals; null without an answer. */
export const session = document.documentElement.dataset.page === "login" ? Promise.resolve(null) : get("/session").catch(() => null);

/** Undecided conflicts: a number in the menu. */
export function showUndecided(count) {
  const place = document.getElementById("undecided");
  if (!place) return;
  place.hidden = !count;
  show(place, number(count), h("span", { class: "unseen" }, " ", say("conflicts.state.undecided")));
}

async function markCurrentPage() {
  const answer = await session;
  if (!answer) return;
  showUndecided(answer.undecided);
  const text = say("where", { source: answer.source || "–", target: answer.target || "–", store: answer.store || "–" });
  show(document.getElementById("where"), h("bdi", {}, visible(text)));
}

themes();
languages();
leaving();
markCurrentPage();
