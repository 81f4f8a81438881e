// A talk goes on by itself: what is said appears, the box sends on Enter, nothing is lost on the way.
import { hear } from "./socket.js";
import { queue, swap } from "./live.js";

const turns = document.querySelector("[data-talk]");
const form = document.querySelector("[data-composer]");
const box = form?.querySelector("textarea");
const scroll = document.querySelector("[data-scroll]");
let fetching = false, again = false;
const key = `draft:talk:${turns?.dataset.talk ?? "new"}`;

// What was typed and not sent is there again after a reload; it stays on this machine.
if (box) {
  if (!box.value) box.value = localStorage.getItem(key) ?? "";
  box.addEventListener("input", keep);
  if (!turns) form.addEventListener("submit", () => localStorage.removeItem(key));
}

function keep() { if (box.value.trim()) localStorage.setItem(key, box.value); else localStorage.removeItem(key); }

box?.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  if (box.value.trim()) form.requestSubmit();
});

if (turns && form) {
  form.addEventListener("submit", send);
  hear((event) => {
    if (event.type === "conversation:turn" && event.conversation === turns.dataset.talk) fetchNew();
    if (event.type === "resync" || event.type === "open") fetchNew();
  });
  toEnd();
}

async function send(event) {
  event.preventDefault();
  const words = new URLSearchParams(new FormData(form)).toString();
  const kept = box.value;
  box.value = "";
  const answer = await fetch(form.action, { method: "POST", body: words, headers: { "HX-Request": "true", "Content-Type": "application/x-www-form-urlencoded" }, credentials: "same-origin" }).catch(() => null);
  if (!answer?.ok) {
    if (!box.value) box.value = kept; // what is typed meanwhile stays
    box.setAttribute("aria-invalid", "true");
    box.focus();
    return;
  }
  const typed = box.value;
  form.reset(); // the files went with it
  box.value = typed;
  keep();
  box.removeAttribute("aria-invalid");
  await fetchNew();
  toEnd();
}

// One at a time; what comes meanwhile is fetched right after.
async function fetchNew() {
  if (fetching) { again = true; return; }
  fetching = true;
  do { again = false; await append(); } while (again);
  fetching = false;
}

async function append() {
  const answer = await fetch(`/conversations/${encodeURIComponent(turns.dataset.talk)}/turns?after=${turns.dataset.last}`, { headers: { "HX-Request": "true" }, credentials: "same-origin" }).catch(() => null);
  if (!answer?.ok) return;
  const drawn = document.createElement("template");
  drawn.innerHTML = await answer.text(); // our own template, escaped on the server
  const tasks = drawn.content.querySelector(".tcard") !== null;
  const near = atEnd;
  let fresh = null;
  for (const turn of drawn.content.querySelectorAll("[data-turn]")) {
    const n = Number(turn.dataset.turn);
    if (n <= Number(turns.dataset.last)) continue;
    turns.querySelector(".empty")?.remove();
    turn.querySelectorAll(".tcard:not(.slim)").forEach(shorten);
    turns.append(turn);
    fresh ??= turn;
    turn.querySelectorAll("[data-live]").forEach(queue); // what changed before it stood here
    turns.dataset.last = String(n);
    if (turn.dataset.answers) turns.querySelector(`[data-writing="${turn.dataset.answers}"]`)?.remove();
  }
  if (tasks) margin();
  if (near) toAnswer(fresh);
}

// A task that asks again does so below; its card above becomes a line.
function shorten(card) {
  for (const old of turns.querySelectorAll(`.tcard:not(.slim)[data-live="${card.dataset.live}"]`)) {
    old.dataset.src += "?full=false";
    queue(old);
  }
}

async function margin() {
  const place = document.querySelector("[data-talk-rail]");
  const answer = await fetch(`/conversations/${encodeURIComponent(turns.dataset.talk)}/rail`, { headers: { "HX-Request": "true" }, credentials: "same-origin" }).catch(() => null);
  if (place && answer?.ok) swap(place, await answer.text());
}

// What was said last stands at the end; a long answer is read from its beginning.
function toAnswer(turn) {
  toEnd();
  if (turn && scroll && turn.offsetTop < scroll.scrollTop) scroll.scrollTop = turn.offsetTop - 16;
}
// A card that grows while one is at the end does not push the end out of sight.
document.addEventListener("remit:drawn", () => { if (atEnd) toEnd(); });
let atEnd = true;
scroll?.addEventListener("scroll", () => { atEnd = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 160; }, { passive: true });

function toEnd() { if (scroll) scroll.scrollTop = scroll.scrollHeight; }
