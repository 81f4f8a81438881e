// An event draws what it changed anew: the same template as at load, fetched as a part.
// Nothing moves under the hand: rows change in place, new ones wait behind a pill, Hold freezes all.
import { hear } from "./socket.js";

const waiting = new Map(); // element -> nothing; drawn anew together
let timer = null, held = false, fresh = 0;
const WAIT = 100, MOST = 100;
const busy = new Set(), again = new Set(); // being drawn; and changed once more meanwhile

hear((event) => {
  if (event.type === "resync" || event.type === "open" && event.again) { everything(); return; }
  if (!event.taskId) return;
  const id = CSS.escape(event.taskId);
  for (const place of document.querySelectorAll(`[data-live="${id}"], [data-live="*"]`)) queue(place);
  if (event.type === "task:created") news();
  if (event.type === "task:needs-attention") announce("Something needs you.");
  if (event.type === "task:result") announce("A task is finished.");
});

let opened = false;
hear((event) => { if (event.type === "open") { if (opened) everything(); opened = true; } });

export function queue(place) {
  if (!place.matches("[data-live]")) return; // it has ended, and nothing draws it anew
  waiting.set(place, true);
  timer ??= setTimeout(draw, WAIT);
}

export function hold(on) { held = on; if (!on) draw(); }

const everything = () => document.querySelectorAll("[data-live]").forEach(queue);

async function draw() {
  timer = null;
  if (held) return;
  const places = [...waiting.keys()].filter((place) => place.isConnected);
  waiting.clear();
  const rows = places.filter(batch), groups = [];
  while (rows.length) groups.push(rows.splice(0, MOST));
  await Promise.all([...places.filter((place) => !batch(place)).map(refresh), ...groups.map(together)]);
}

// One question at a time for each place: of two answers under way the older could come to stay.
const free = (place) => busy.has(place) ? (again.add(place), false) : (busy.add(place), true);
function done(place, drawn) {
  busy.delete(place);
  if (again.delete(place)) queue(drawn ?? place);
}

export async function refresh(place) {
  if (free(place)) done(place, await redraw(place));
}

// Rows that are due at the same moment come in one answer; one that it leaves out is gone.
const batch = (place) => place.closest("[data-batch]")?.dataset.batch;

async function together(rows) {
  const places = rows.filter(free);
  if (!places.length) return;
  const answer = await ask(`${batch(places[0])}?ids=${places.map((place) => place.dataset.live)}`);
  const drawn = document.createElement("template");
  drawn.innerHTML = answer?.html ?? "";
  for (const place of places) done(place, answer?.ok ? put(place, drawn.content.getElementById(place.id)?.outerHTML ?? "") : null);
}

async function redraw(place) {
  // Whoever types in it keeps what he typed.
  if (place.contains(document.activeElement) && document.activeElement.matches("textarea, input[type=text], input[type=search]")) return;
  const source = place.dataset.src;
  const answer = await ask(source ?? location.href);
  if (place.dataset.src !== source) return redraw(place); // meanwhile it is to show something else
  if (answer?.ok) return put(place, answer.html);
  if (answer?.status === 404) place.remove();
}

async function ask(url) {
  try {
    const answer = await fetch(url, { headers: { "HX-Request": "true" }, credentials: "same-origin" });
    return { ok: answer.ok, status: answer.status, html: await answer.text() };
  } catch { return null; }
}

const put = (place, html) => place.isConnected && place.dataset.was !== html ? swap(place, html) : null;

export function swap(place, html) {
  const drawn = document.createElement("template");
  drawn.innerHTML = html; // our own template, escaped on the server; scripts in it do not run
  const next = drawn.content.firstElementChild;
  if (!next) { place.remove(); return; }
  next.dataset.was = html;
  for (const open of place.querySelectorAll("details[open][id]")) next.querySelector(`#${CSS.escape(open.id)}`)?.setAttribute("open", "");
  const focus = place.contains(document.activeElement) ? document.activeElement.id : null;
  place.replaceWith(next);
  if (waiting.delete(place)) queue(next); // what it waited for is not forgotten with it
  if (focus) document.getElementById(focus)?.focus();
  next.dispatchEvent(new CustomEvent("remit:drawn", { bubbles: true }));
  return next;
}

function news() {
  const pill = document.querySelector("[data-newpill]");
  if (!pill) return;
  fresh += 1;
  pill.textContent = fresh === 1 ? "↑ 1 new task" : `↑ ${fresh} new tasks`;
  pill.hidden = false;
}

// At most one word every five seconds, and only what needs a person or is finished.
let said = 0;
function announce(words) {
  const now = Date.now();
  const place = document.getElementById("announce");
  if (!place || now - said < 5000) return;
  said = now;
  place.textContent = words;
}
