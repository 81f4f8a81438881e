// The list keeps still: rows change in place, new ones wait behind the pill, Hold freezes all.
import { hear } from "./socket.js";
import { hold, refresh } from "./live.js";

const pill = document.querySelector("[data-pill]");
const button = document.querySelector("[data-hold]");
const born = new Set(); // what was created since this page was drawn
let held = false, timer = null, again = false;
const WAIT = 1000; // numbers may be a second old; rows are not

hear((event) => {
  if (event.type === "task:created" && event.taskId) born.add(event.taskId);
  if (event.taskId || event.type === "resync") slowly();
  if (event.type === "resync") again = true;
});

function slowly() { timer ??= setTimeout(numbers, WAIT); }

async function numbers() {
  timer = null;
  if (held) { again = true; return; }
  await Promise.all([...document.querySelectorAll("[data-slow]")].map(refresh));
  news();
}

// Only those count that belong into this very list.
function news() {
  if (!pill) return;
  const match = (document.getElementById("tabs")?.dataset.newest ?? "").split(" ");
  const n = match.filter((id) => born.has(id) && !document.getElementById(`row-${id}`)).length;
  // Nothing can move under the hand where there is nothing yet.
  if (n && !document.querySelector("#rows [data-row], #rows tr")) { location.reload(); return; }
  pill.hidden = n === 0;
  pill.querySelector("span").textContent = n >= 20 ? "20 or more new tasks" : n === 1 ? "1 new task" : `${n} new tasks`;
}

button?.addEventListener("click", () => {
  held = !held;
  button.setAttribute("aria-pressed", String(held));
  button.querySelector("span").textContent = held ? "Go on" : "Hold";
  const live = document.getElementById("live");
  live.querySelector("[data-live-word]").textContent = held ? "Held" : "Live";
  live.querySelector(".dot").className = held ? "dot you" : "dot ok pulse";
  hold(held);
  if (!held && again) { again = false; slowly(); }
});

// A row that is drawn anew stays where the eye was.
document.addEventListener("remit:drawn", (event) => {
  const row = event.target;
  if (row.id === at) row.classList.add("cursor");
});
let at = null;
new MutationObserver(() => { at = document.querySelector("#rows .cursor")?.id ?? at; })
  .observe(document.getElementById("rows") ?? document.body, { subtree: true, attributeFilter: ["class"] });

// The word about what was done is said once, not after every reload.
if (document.querySelector("[data-done]")) {
  const here = new URL(location.href);
  for (const name of ["done", "series", "slot", "gone"]) here.searchParams.delete(name);
  history.replaceState(null, "", here);
}

// More rows come below those that are there; without a script they are a page of their own.
document.addEventListener("click", async (event) => {
  const link = event.target.closest?.("[data-more]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const answer = await fetch(link.href, { headers: { "HX-Request": "true" }, credentials: "same-origin" }).catch(() => null);
  if (!answer?.ok) { location.href = link.href; return; }
  const drawn = document.createElement("template");
  drawn.innerHTML = await answer.text(); // our own template, escaped on the server
  link.closest("tr").replaceWith(drawn.content);
  document.dispatchEvent(new CustomEvent("remit:more"));
});

// A run without a task opens beside the calendar; without a script it has a page of its own.
const slot = document.getElementById("slot");
if (slot) document.addEventListener("click", async (event) => {
  const link = event.target.closest?.("[data-slot]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const answer = await fetch(link.href, { headers: { "HX-Request": "true" }, credentials: "same-origin" }).catch(() => null);
  if (!answer?.ok) { location.href = link.href; return; }
  slot.innerHTML = await answer.text(); // our own template, escaped on the server
  slot.showModal();
});
