// The list of what waits, kept true without moving what is under the hand.
import { hear } from "./socket.js";

const list = () => document.getElementById("heaps");
const pane = document.getElementById("queue");
const pill = document.getElementById("more-below");
const WAIT = 150, LONGEST = 2 ** 31 - 1;
let timer = null, fresh = null, backs = null;

// Where one stood in the list is kept from page to page.
const here = sessionStorage.getItem("queue-at");
if (pane && here) pane.scrollTop = Number(here);
pane?.querySelector("[aria-current=true]")?.scrollIntoView({ block: "nearest" });
addEventListener("pagehide", () => { if (pane) sessionStorage.setItem("queue-at", pane.scrollTop); });

let opened = false;
hear((event) => {
  if (event.taskId || event.type === "resync" || (event.type === "open" && opened)) soon();
  if (event.type === "open") opened = true;
});
const soon = () => { timer ??= setTimeout(look, WAIT); };

async function look() {
  timer = null;
  const place = list();
  if (!place) return;
  const answer = await fetch(place.dataset.src, { headers: { "HX-Request": "true" } }).catch(() => null);
  if (!answer?.ok) return;
  const drawn = document.createElement("template");
  drawn.innerHTML = await answer.text(); // our own template, escaped on the server
  const next = drawn.content.firstElementChild;
  if (next.outerHTML === place.outerHTML) return;
  fresh = next;
  pane.matches(":hover") && matchMedia("(hover: hover)").matches ? gently(place, next) : whole();
}

// While the hand is on the list its rows stay where they are: they change, they fade, none comes in.
function gently(place, next) {
  const now = new Set(), was = new Set();
  for (const row of next.querySelectorAll("li[id]")) now.add(row.id);
  for (const row of place.querySelectorAll("li[id]")) {
    was.add(row.id);
    const drawn = next.querySelector(`#${CSS.escape(row.id)}`);
    row.classList.toggle("gone", !drawn);
    if (drawn && drawn.innerHTML !== row.innerHTML && !row.contains(document.activeElement)) row.innerHTML = drawn.innerHTML;
  }
  const more = [...now].filter((id) => !was.has(id)).length;
  pill.hidden = !more;
  pill.textContent = more === 1 ? "1 more waits" : `${more} more wait`;
}

function whole() {
  if (!fresh) return;
  const quiet = document.querySelector(".inbox.quiet");
  if (quiet && fresh.querySelector("li")) {
    // The page said that nothing is wanted. Whoever types in it keeps what he typed.
    if (![...quiet.querySelectorAll("textarea")].some((box) => box.value)) { location.reload(); return; }
    quiet.classList.remove("quiet");
  }
  const place = list(), next = fresh, focus = place.contains(document.activeElement) ? document.activeElement.closest("li")?.id : null;
  const anchor = place.querySelector("[aria-current=true]"), top = anchor?.getBoundingClientRect().top;
  for (const open of place.querySelectorAll("details[open][id]")) next.querySelector(`#${CSS.escape(open.id)}`)?.setAttribute("open", "");
  place.replaceWith(next);
  fresh = null;
  pill.hidden = true;
  const same = next.querySelector("[aria-current=true]");
  if (anchor && same) pane.scrollTop += same.getBoundingClientRect().top - top;
  if (focus) document.querySelector(`#${CSS.escape(focus)} a`)?.focus();
  arm();
}
pane?.addEventListener("pointerleave", whole);
pill?.addEventListener("click", whole);

// What was put off comes back by the clock; no event says so.
function arm() {
  clearTimeout(backs);
  const times = [...document.querySelectorAll("[data-back]")].map((each) => Date.parse(each.dataset.back) - Date.now());
  if (times.length) backs = setTimeout(look, Math.min(LONGEST, Math.max(1000, Math.min(...times) + 500)));
}
arm();

// A question that was decided elsewhere says so, and takes no more answers; what was typed stays.
document.addEventListener("remit:drawn", (event) => {
  if (event.target.id !== "stand") return;
  const over = event.target.hasAttribute("data-over"), detail = document.getElementById("detail");
  if (!over || detail.classList.contains("over")) return;
  detail.classList.add("over");
  document.getElementById("acts").hidden = true;
  for (const each of detail.querySelectorAll("#acts [data-primary]")) each.removeAttribute("data-primary");
  for (const each of detail.querySelectorAll("button[form=decide], .always")) each.hidden = true;
  for (const each of detail.querySelectorAll("textarea")) each.readOnly = true;
});

// What opens upwards takes the hand with it.
for (const menu of document.querySelectorAll(".actbar details.menu")) {
  menu.addEventListener("toggle", () => { if (menu.open) menu.querySelector("textarea, button")?.focus(); });
  menu.addEventListener("keydown", (event) => { if (event.key === "Escape") { menu.open = false; menu.querySelector("summary").focus(); event.stopPropagation(); } });
}

// Of the results those are marked that were picked; if none was, all.
document.addEventListener("change", (event) => {
  if (!event.target.matches?.(".picks .check")) return;
  const n = document.querySelectorAll(".picks .check:checked").length;
  document.querySelector("[data-seen] span").textContent = n ? `Mark ${n} seen` : "Mark all seen";
});
