// What a person with a screen reader, a keyboard or weak eyes would stumble over. Evaluated on a page as it is; answers
// a list of complaints.
() => {
  const complaints = [];
  const complain = (what, element, more = "") =>
    complaints.push(`${what}: <${element.tagName.toLowerCase()}${element.id ? ` id=${element.id}` : ""} class="${element.getAttribute("class") ?? ""}"> ${(element.textContent ?? "").trim().slice(0, 40)} ${more}`.trim());
  const all = (selector) => [...document.querySelectorAll(selector)];
  const hidden = (element) => !element.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true });
  const clipped = (element) => element.closest(".unseen, .skip:not(:focus)") !== null;
  const text = (element) => (element.textContent ?? "").trim();

  // ---- names
  const byIds = (ids) => (ids ?? "").split(/\s+/).map((id) => text(document.getElementById(id) ?? document.createElement("i"))).join(" ").trim();
  const nameOf = (element) =>
    element.getAttribute("aria-label")?.trim() || byIds(element.getAttribute("aria-labelledby")) ||
    [...(element.labels ?? [])].map(text).join(" ").trim() || text(element) ||
    [...element.querySelectorAll("img[alt]")].map((image) => image.alt).join(" ").trim() || element.getAttribute("title")?.trim() || "";
  for (const element of all("a[href], button, summary, [role=button], dialog, [role=region], nav, progress, input, select, textarea, svg[role=img]")) {
    if (!hidden(element) && !nameOf(element)) complain("no name", element);
  }
  for (const image of all("img")) if (!image.hasAttribute("alt")) complain("no alt", image);
  for (const picture of all("svg")) {
    if (picture.getAttribute("role") !== "img" && picture.getAttribute("aria-hidden") !== "true") complain("a picture that is neither told nor hidden", picture);
  }

  // ---- the document
  if (!/^(en|ru)$/.test(document.documentElement.lang)) complaints.push("no lang");
  if (!document.title.trim()) complaints.push("no title");
  if (all("main").length !== 1) complaints.push("not one main");
  const ids = all("[id]").map((element) => element.id);
  for (const id of new Set(ids.filter((one, at) => ids.indexOf(one) !== at))) complaints.push(`id twice: ${id}`);
  const headings = all("h1, h2, h3, h4, h5, h6").filter((element) => !hidden(element));
  if (headings.filter((element) => element.tagName === "H1").length !== 1) complaints.push("not one h1");
  headings.reduce((before, element) => {
    const level = Number(element.tagName[1]);
    if (level > before + 1) complain(`heading jumps from h${before}`, element);
    return level;
  }, 0);
  for (const element of all("[tabindex]")) if (Number(element.getAttribute("tabindex")) > 0) complain("tabindex above 0", element);
  for (const element of all("[aria-controls], [aria-labelledby]")) {
    for (const name of ["aria-controls", "aria-labelledby"]) {
      const named = element.getAttribute(name);
      if (named?.split(/\s+/).some((id) => !document.getElementById(id))) complain(`${name} leads nowhere`, element);
    }
  }
  const live = all("[aria-live]");
  if (live.some((element) => !element.querySelector("#verdict"))) complaints.push("something else than the verdict is announced all the time");

  // ---- tables and lists
  for (const table of all("table")) {
    if (hidden(table)) continue;
    if (!table.querySelector("thead th[scope=col]")) complain("a table without headers", table);
    for (const row of table.querySelectorAll(":scope > tbody > tr:not(.opened)")) {
      if (!row.querySelector("th[scope=row], th[scope=rowgroup]")) complain("a row without a header", row);
    }
    if (!table.caption && !table.ariaLabel && !table.closest("[role=region][aria-label]")) complain("a table without a name", table);
  }
  for (const element of all(".scroll, pre")) {
    if (!hidden(element) && element.tabIndex < 0) complain("scrolls, but not by keyboard", element);
  }

  // ---- contrast, from the styles as they are
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const rgba = (colour) => {
    if (!known.has(colour)) known.set(colour, painted(colour));
    return known.get(colour);
  };
  const painted = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
  const behind = (element) => {
    const layers = [];
    for (let one = element; one; one = one.parentElement) {
      const colour = rgba(getComputedStyle(one).backgroundColor);
      layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255, 1]);
  };
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((one) => one / 255).map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const contrast = (one, other) => {
    const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  };
  let checked = 0;
  const check = (element, style, ground) => {
    const colour = style.fill !== undefined && element.namespaceURI.endsWith("svg") ? style.fill : style.color;
    const size = Number.parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const found = contrast(over(rgba(colour), ground), ground);
    checked += 1;
    if (found < (large ? 3 : 4.5)) complain(`contrast ${found.toFixed(2)}`, element, `${colour} on ${ground.map(Math.round)}`);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || seen.has(element) || hidden(element) || clipped(element)) continue;
    seen.add(element);
    if (element.closest(":disabled")) continue;
    check(element, getComputedStyle(element), behind(element));
  }
  for (const element of all("[data-label]")) {
    const style = getComputedStyle(element, "::before");
    if (!hidden(element) && style.content !== "none" && style.display !== "none") check(element, style, behind(element));
  }
  for (const element of all(".sign")) {
    if (hidden(element)) continue;
    const found = contrast(over(rgba(getComputedStyle(element).stroke), behind(element)), behind(element));
    if (found < 3) complain(`sign's contrast ${found.toFixed(2)}`, element);
  }
  if (checked < 5) complaints.push(`only ${checked} texts were looked at`);
  return complaints;
}
