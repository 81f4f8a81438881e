// Keys live on the page: whatever carries data-key="r" is clicked by R. Off while typing, off by choice.
let first = null, timer = null;
const typing = (target) => target.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable]");

addEventListener("keydown", (event) => {
  if (event.defaultPrevented) return;
  const mod = event.ctrlKey || event.metaKey;
  if (mod && event.key === "Enter") return approve(event);
  if (mod || event.altKey || event.isComposing) return;
  if (event.key === "Escape") { first = null; return escape(event); }
  if (typing(event.target) || document.querySelector("dialog[open]") || localStorage.getItem("keys") === "off") return;
  const key = event.key === " " ? "space" : event.key.toLowerCase();
  if (key === "?") { event.preventDefault(); document.getElementById("all-keys")?.showModal(); return; }
  if (first && press(`${first} ${key}`, event)) { first = null; return; }
  if (key === "t") { theme(); return; }
  if ((key === "j" || key === "k") && walk(key === "j" ? 1 : -1)) { event.preventDefault(); return; }
  if (key === "/" && find(event)) return;
  press(key, event);
  first = key === "g" ? "g" : null;
  clearTimeout(timer);
  timer = setTimeout(() => { first = null; }, 1200);
});

function press(key, event) {
  const place = [...document.querySelectorAll(`[data-key="${CSS.escape(key)}"]`)].find((each) => each.checkVisibility?.() ?? true);
  if (!place || place.disabled) return false;
  event.preventDefault();
  place.matches("input, textarea, select") ? place.focus() : place.click();
  return true;
}

function approve(event) {
  const form = event.target.closest?.("form");
  const place = document.querySelector("dialog[open] [type=submit]") ?? form?.querySelector("[data-primary]") ?? document.querySelector("[data-primary]") ?? form?.querySelector("[type=submit]");
  if (!place) return;
  event.preventDefault();
  place.click();
}

function escape(event) {
  if (typing(event.target)) { event.target.blur(); return; }
  if (document.querySelector("dialog[open]")) return;
  document.querySelector("details.menu[open]")?.removeAttribute("open");
  press("escape", event);
}

function find(event) {
  const place = document.querySelector("[data-search]");
  if (!place) return false;
  event.preventDefault();
  place.focus();
  return true;
}

// J and K walk whatever list the page marks with data-walk.
function walk(by) {
  const rows = [...document.querySelectorAll("[data-walk] [data-row]")];
  if (!rows.length) return false;
  const at = rows.findIndex((row) => row.matches("[aria-current=true], .cursor") || row.contains(document.activeElement));
  const next = rows[Math.max(0, Math.min(rows.length - 1, at + by))];
  for (const row of rows) row.classList.toggle("cursor", row === next);
  (next.matches("a, button") ? next : next.querySelector("a, button"))?.focus();
  next.scrollIntoView({ block: "nearest" });
  return true;
}

function theme() {
  const root = document.documentElement;
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
}
