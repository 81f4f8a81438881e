// Commands and tasks behind one key: what this page can do, where one can go, what one can find.
const dialog = document.getElementById("palette");
const input = dialog?.querySelector("input");
const found = document.getElementById("palette-found");
let asked = 0;

if (dialog) {
  addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") { event.preventDefault(); open(); }
  });
  for (const button of document.querySelectorAll("[data-palette]")) button.addEventListener("click", open);
  input.addEventListener("input", fill);
  input.addEventListener("keydown", steer);
  found.addEventListener("click", (event) => { const option = event.target.closest("[role=option]"); if (option) choose(option); });
}

function open() { if (!dialog.open) { dialog.showModal(); input.value = ""; fill(); input.focus(); } }

// What can be done here: every button and link that has a key or says that it is a command.
function commands(text) {
  const places = [...document.querySelectorAll("[data-key], [data-command], #main [data-primary]")].filter((each) => !each.closest("dialog, [hidden]") && !each.matches("input, textarea") && (each.closest("details.menu") || (each.checkVisibility?.() ?? true)));
  // What is open comes before where one can go, and its main answer first; what a menu hides can be done all the same.
  const main = document.getElementById("main");
  const rank = (place) => !main.contains(place) ? 3 : "primary" in place.dataset ? 0 : place.dataset.key === "escape" ? 2 : 1;
  places.sort((one, other) => rank(one) - rank(other));
  return places.map((place) => ({ place, key: place.dataset.key, words: place.dataset.command ?? words(place) }))
    .filter(({ words: said }) => said && said.toLowerCase().includes(text));
}

const words = (place) => {
  const copy = place.cloneNode(true);
  copy.querySelectorAll("kbd, svg, .count, .sr").forEach((each) => each.remove());
  return (copy.textContent.trim() || place.getAttribute("aria-label") || "").replace(/\s+/g, " ");
};

async function fill() {
  const text = input.value.trim().toLowerCase(), mine = ++asked;
  const options = commands(text).slice(0, 16).map(({ place, key, words: said }) => option(said, key, () => { place.closest("details.menu")?.setAttribute("open", ""); place.click(); }));
  show(options, []);
  if (text.length < 2) return;
  const answer = await fetch(`/palette?q=${encodeURIComponent(text)}`, { headers: { "HX-Request": "true" } }).catch(() => null);
  if (!answer?.ok || mine !== asked) return;
  const line = (task) => option(task.title, "", () => { location.href = task.href; }, task.kind);
  const told = await answer.json();
  show(options, told.tasks.map(line), told.alike.map(line));
}

function option(said, key, act, kind) {
  const line = document.createElement("div");
  line.className = "opt"; line.setAttribute("role", "option"); line.setAttribute("aria-selected", "false");
  if (kind) { const dot = document.createElement("span"); dot.className = `dot ${kind}`; line.append(dot); }
  const label = document.createElement("span"); label.className = "clip"; label.textContent = said; line.append(label);
  if (key) { const cap = document.createElement("kbd"); cap.className = "end"; cap.textContent = key === "escape" ? "Esc" : key.toUpperCase(); line.append(cap); }
  line.act = act;
  return line;
}

function show(actions, tasks, alike = []) {
  const part = (title, lines) => { if (!lines.length) return []; const group = document.createElement("div"); group.setAttribute("role", "group"); group.setAttribute("aria-label", title); const h = document.createElement("h3"); h.textContent = title; h.setAttribute("aria-hidden", "true"); group.append(h, ...lines); return [group]; };
  found.replaceChildren(...part("Actions", actions), ...part("Tasks", tasks), ...part("Similar", alike));
  let n = 0;
  for (const line of found.querySelectorAll("[role=option]")) line.id = `opt-${n++}`;
  select(found.querySelector("[role=option]"));
}

function select(line) {
  for (const each of found.querySelectorAll("[role=option]")) each.setAttribute("aria-selected", String(each === line));
  line ? input.setAttribute("aria-activedescendant", line.id) : input.removeAttribute("aria-activedescendant");
  line?.scrollIntoView({ block: "nearest" });
}

function steer(event) {
  const lines = [...found.querySelectorAll("[role=option]")], at = lines.findIndex((each) => each.ariaSelected === "true");
  if (event.key === "ArrowDown") { event.preventDefault(); select(lines[Math.min(lines.length - 1, at + 1)]); }
  if (event.key === "ArrowUp") { event.preventDefault(); select(lines[Math.max(0, at - 1)]); }
  if (event.key === "Enter" && lines[at]) { event.preventDefault(); choose(lines[at]); }
}

function choose(line) { dialog.close(); line.act(); }
