import { queue } from "./live.js";
import { hear } from "./socket.js";
import { say } from "./toast.js";

// Dialogs and menus: opened by what names them, closed by Escape, a button, or a click beside them.
// Without a connection nothing leaves this page: what is pressed waits for the line to come back,
// and is done if that takes a moment only, as when Remit takes up new settings.
let pressed = null;
const lost = () => { pressed = null; say("No connection. Nothing was sent, and what you typed is kept."); };
hear((event) => {
  const again = pressed;
  if (event.type === "offline" && again) lost();
  if (event.type !== "open" || !again) return;
  pressed = null;
  again();
});
const stays = (event) => {
  if (!document.documentElement.classList.contains("offline")) return;
  const link = event.target.closest?.("a[href]");
  if (event.type === "click" && (!link || link.getAttribute("href").startsWith("#") || link.dataset.opens || "new" in link.dataset || link.origin !== location.origin)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (!document.getElementById("offline").hidden) { lost(); return; }
  const form = event.target, button = event.submitter;
  pressed = () => { if ((link ?? form).isConnected) event.type === "click" ? link.click() : form.requestSubmit(button); };
};
addEventListener("click", stays, true);
addEventListener("submit", stays, true);

// A new task leaves the page as it is: a word at its foot links to it and follows it.
async function hand(event) {
  event.preventDefault();
  const form = event.target, dialog = form.closest("dialog"), button = form.querySelector("[type=submit]");
  form.querySelector("[role=alert]")?.remove();
  button.disabled = true;
  const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)), headers: { "HX-Request": "true" }, credentials: "same-origin" }).catch(() => null);
  button.disabled = false;
  if (!answer) { say("No connection. Nothing was sent, and what you typed is kept."); return; }
  if (answer.redirected) { location.href = answer.url; return; }
  const drawn = document.createElement("template");
  drawn.innerHTML = await answer.text(); // our own template, escaped on the server
  const told = drawn.content.firstElementChild;
  if (!told.matches(".toast")) { form.querySelector("textarea").after(told); return; }
  form.reset();
  dialog.close();
  document.querySelector("#toasts .handed")?.remove();
  document.getElementById("toasts").append(told);
  queue(told);
}

export function dialogs() {
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-opens]");
    if (opener) { const dialog = document.getElementById(opener.dataset.opens); if (dialog) { event.preventDefault(); dialog.showModal(); } }
    const fresh = event.target.closest("[data-new]");
    if (fresh) { const dialog = document.getElementById("new-task"); if (dialog) { event.preventDefault(); dialog.showModal(); dialog.querySelector("textarea").focus(); } }
    const shown = event.target.closest("[data-close]")?.closest("dialog");
    if (shown) { event.preventDefault(); shown.close(); }
    if (event.target instanceof HTMLDialogElement) event.target.close();
    for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
    const copied = event.target.closest("[data-copy]");
    if (copied) navigator.clipboard?.writeText(new URL(copied.dataset.copy, location.href).href);
    if (event.target.closest("[data-theme-toggle]")) dispatchEvent(new KeyboardEvent("keydown", { key: "t" }));
  });
  document.addEventListener("click", (event) => { if (event.target.closest("[data-dismiss]")) event.target.closest(".toast").remove(); });
  document.querySelector("#new-task form")?.addEventListener("submit", hand);
  // A form that is sent twice in a hurry is sent once.
  document.addEventListener("submit", (event) => {
    if (event.defaultPrevented) return;
    const button = event.submitter;
    if (button) setTimeout(() => { button.disabled = true; setTimeout(() => { button.disabled = false; }, 4000); });
  });
}
