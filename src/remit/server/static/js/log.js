// The log of a task: followed, filtered and searched while it runs. The server draws every line.
import { hear } from "./socket.js";

const card = document.getElementById("log-card");
const CAP = 5000, WAIT = 100, LINE = /^#log-\d+$/;
if (card) begin(card);

function begin(card) {
  const box = card.querySelector(".log"), follow = card.querySelector("[data-follow]"), older = card.querySelector("[data-older]");
  const find = card.querySelector("[data-search]"), nothing = card.querySelector("[data-nothing]"), errors = card.querySelector("[data-errors]");
  const state = { show: card.dataset.show, text: card.dataset.find, first: 0, last: 0, following: follow.getAttribute("aria-pressed") === "true", timer: null, busy: false, again: false };
  const lines = () => box.querySelector(".lines");
  take(lines());
  if (LINE.test(location.hash)) reach(location.hash.slice(1)); else if (state.following) end();

  hear((event) => {
    if (event.taskId === card.dataset.task || event.type === "resync" || event.type === "open") state.timer ??= setTimeout(newer, WAIT);
  });

  function take(part) {
    state.first = state.first ? Math.min(state.first, Number(part.dataset.first)) : Number(part.dataset.first);
    state.last = Math.max(state.last, Number(part.dataset.last));
    nothing.hidden = Boolean(box.querySelector("[data-n]"));
  }

  async function get(place) {
    const asked = new URLSearchParams({ ...place, show: state.show });
    if (state.text) asked.set("find", state.text);
    const answer = await fetch(`${card.dataset.log}?${asked}`, { headers: { "HX-Request": "true" }, credentials: "same-origin" }).catch(() => null);
    if (!answer?.ok) return null;
    const drawn = document.createElement("template");
    drawn.innerHTML = await answer.text(); // our own template, escaped on the server
    return drawn.content.firstElementChild;
  }

  // Lines come in order and once: while one question is open, the next waits for it.
  async function newer() {
    state.timer = null;
    if (state.busy) { state.again = true; return; }
    state.busy = true;
    const part = await get(state.last ? { after: state.last } : {});
    state.busy = false;
    if (part) {
      for (const line of part.querySelectorAll(":scope > p")) {
        if (document.getElementById(line.id)) continue;
        if (line.classList.contains("hl") && state.last) errors.textContent = Number(errors.textContent) + 1;
        lines().append(line);
      }
      state.last = Math.max(state.last, Number(part.dataset.last));
      nothing.hidden = Boolean(box.querySelector("[data-n]"));
      trim();
      if (state.following) end();
    }
    if (state.again) { state.again = false; newer(); }
  }

  async function before() {
    const part = await get({ before: state.first });
    if (!part) return false;
    const height = box.scrollHeight, top = box.scrollTop;
    lines().prepend(...part.querySelectorAll(":scope > p"));
    state.first = Number(part.dataset.first);
    older.parentElement.hidden = !part.dataset.more || box.querySelectorAll("[data-n]").length >= CAP;
    box.scrollTop = top + box.scrollHeight - height; // what one reads stays where it is
    return Boolean(part.dataset.more);
  }

  async function anew() {
    const part = await get({});
    if (!part) return;
    lines().replaceWith(part);
    state.first = state.last = 0;
    take(part);
    nothing.textContent = "No line fits.";
    older.parentElement.hidden = !part.dataset.more;
    const place = new URL(location.href);
    state.show === "all" ? place.searchParams.delete("show") : place.searchParams.set("show", state.show);
    state.text ? place.searchParams.set("find", state.text) : place.searchParams.delete("find");
    history.replaceState(null, "", place);
    end();
  }

  async function reach(id) {
    const n = Number(id.slice(4));
    following(false);
    while (!document.getElementById(id) && state.first > n && box.querySelectorAll("[data-n]").length < CAP) if (!await before()) break;
    const line = document.getElementById(id);
    if (line) { location.replace(`#${id}`); line.scrollIntoView({ block: "center" }); }
  }

  function trim() {
    const all = box.querySelectorAll("[data-n]");
    for (const line of [...all].slice(0, Math.max(0, all.length - CAP))) { line.remove(); state.first = Number(line.dataset.n) + 1; older.parentElement.hidden = true; }
  }

  function end() { box.scrollTop = box.scrollHeight; }

  function following(on) {
    state.following = on;
    follow.setAttribute("aria-pressed", String(on));
    follow.querySelector("[data-follow-word]").textContent = on ? "Following" : "Follow";
    follow.querySelector(".dot").className = on ? "dot ok pulse" : "dot idle";
    if (on) end();
  }

  follow.addEventListener("click", () => following(!state.following));
  older.addEventListener("click", (event) => { event.preventDefault(); following(false); before(); });
  // Who scrolls up wants to read; who comes back to the end wants to follow.
  box.addEventListener("wheel", (event) => { if (event.deltaY < 0 && state.following) following(false); }, { passive: true });
  card.querySelector("nav.seg").addEventListener("click", (event) => {
    const chosen = event.target.closest("a[data-show]");
    if (!chosen) return;
    event.preventDefault();
    state.show = chosen.dataset.show;
    for (const each of card.querySelectorAll("a[data-show]")) each === chosen ? each.setAttribute("aria-current", "true") : each.removeAttribute("aria-current");
    anew();
  });
  let typed = null;
  find.addEventListener("input", () => { clearTimeout(typed); typed = setTimeout(() => { state.text = find.value.trim(); anew(); }, 200); });
  find.form.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(typed); state.text = find.value.trim(); anew(); });
  card.querySelector("[data-next-error]").addEventListener("click", () => {
    const all = [...box.querySelectorAll("p.hl")], at = all.findIndex((line) => line.classList.contains("at"));
    const next = all[(at + 1) % (all.length || 1)];
    if (!next) return;
    following(false);
    for (const line of all) line.classList.toggle("at", line === next);
    next.scrollIntoView({ block: "center" });
    next.querySelector("a").focus({ preventScroll: true });
  });
  addEventListener("hashchange", () => { if (LINE.test(location.hash)) reach(location.hash.slice(1)); });
}
