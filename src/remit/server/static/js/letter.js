// The letter while it is written: kept on this machine, drawn by the server as it will arrive.
import { hear } from "./socket.js";

const WAIT = 250;
const part = (id) => document.getElementById(id);

// Once it is sent, what was kept of it goes.
const sent = new URLSearchParams(location.search).get("done");
if (sent) for (const key of Object.keys(localStorage)) if (key.startsWith(`draft:${sent}:`)) localStorage.removeItem(key);

for (const box of document.querySelectorAll("textarea[data-keep]")) keep(box);

function keep(box) {
  const key = `draft:${box.dataset.keep}`, draft = box.dataset.draft ?? "";
  const kept = localStorage.getItem(key), note = document.querySelector("[data-kept]");
  let timer = null, asked = 0, missed = false;
  if (kept !== null && kept !== draft && !box.readOnly && box.value === draft) {
    box.value = kept;
    say("Your edit is back.");
  }
  if (box.value !== draft) changed();
  box.addEventListener("input", changed);
  box.form?.addEventListener("reset", (event) => { event.preventDefault(); box.value = draft; localStorage.removeItem(key); changed(); box.focus(); });
  document.querySelector("[data-fill]")?.addEventListener("click", () => { box.value = document.querySelector("[data-fills]").textContent; changed(); box.focus(); });

  hear((event) => { if (event.type === "open" && missed) look(); });

  function changed() {
    if (box.value === draft) localStorage.removeItem(key); else localStorage.setItem(key, box.value);
    for (const each of document.querySelectorAll("[data-restore]")) each.hidden = box.value === draft || box.readOnly;
    clearTimeout(timer);
    if (box.dataset.preview) timer = setTimeout(look, WAIT);
  }

  async function look() {
    const mine = ++asked;
    const answer = await fetch(box.dataset.preview, { method: "POST", headers: { "HX-Request": "true", "Content-Type": "application/x-www-form-urlencoded" }, body: new URLSearchParams({ text: box.value }) }).catch(() => null);
    if (mine !== asked) return;
    missed = !answer?.ok;
    if (missed) { say("Kept on this machine."); return; }
    const drawn = document.createElement("template");
    drawn.innerHTML = await answer.text(); // our own template, escaped on the server
    if (mine !== asked) return;
    const shown = !part("changes").hidden;
    for (const id of ["look", "remarks", "changes"]) part(id).replaceWith(drawn.content.getElementById(id));
    count(Number(part("changes").dataset.places), shown);
  }

  function count(places, shown) {
    const button = document.querySelector("[data-changes]");
    button.hidden = places === 0;
    button.querySelector("[data-number]").textContent = places;
    toggle(shown && places > 0);
    say(places === 1 ? "You changed 1 place" : places ? `You changed ${places} places` : "");
  }

  function say(words) { if (note) { note.textContent = words; note.hidden = !words; } }
}

const button = document.querySelector("[data-changes]");
button?.addEventListener("click", () => toggle(button.getAttribute("aria-pressed") !== "true"));

function toggle(on) {
  button.setAttribute("aria-pressed", String(on));
  button.querySelector("[data-word]").textContent = on ? "Hide changes" : "Show changes";
  part("changes").hidden = !on;
  part("draft").hidden = on;
}
document.querySelector("[data-fill]")?.removeAttribute("hidden");
// E means the text, whatever is shown of it.
addEventListener("keydown", (event) => { if (event.key === "e" && button?.getAttribute("aria-pressed") === "true" && !event.target.closest("input, textarea")) { toggle(false); } }, true);
