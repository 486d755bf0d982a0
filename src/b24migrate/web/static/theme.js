// Sets the chosen theme before the first paint. Without a choice the page follows the system.
{
  let chosen = "";
  try {
    chosen = localStorage.getItem("b24migrate.theme") || "";
  } catch {
    // a browser that keeps nothing follows the system
  }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
}
