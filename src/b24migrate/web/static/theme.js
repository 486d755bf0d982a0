// Before the first paint: the theme that was chosen here. Everything else follows the system.
{
  let chosen = "";
  try {
    chosen = localStorage.getItem("b24migrate.theme") || "";
  } catch {
    // a browser that keeps nothing follows the system
  }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
}
