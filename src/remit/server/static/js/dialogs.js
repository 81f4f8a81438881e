// Dialogs and menus: opened by what names them, closed by Escape, a button, or a click beside them.
export function dialogs() {
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-opens]");
    if (opener) { const dialog = document.getElementById(opener.dataset.opens); if (dialog) { event.preventDefault(); dialog.showModal(); } }
    const fresh = event.target.closest("[data-new]");
    if (fresh) { const dialog = document.getElementById("new-task"); if (dialog) { event.preventDefault(); dialog.showModal(); dialog.querySelector("textarea").focus(); } }
    if (event.target.closest("[data-close]")) event.target.closest("dialog")?.close();
    if (event.target instanceof HTMLDialogElement) event.target.close();
    for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
    const copied = event.target.closest("[data-copy]");
    if (copied) navigator.clipboard?.writeText(new URL(copied.dataset.copy, location.href).href);
    if (event.target.closest("[data-theme-toggle]")) dispatchEvent(new KeyboardEvent("keydown", { key: "t" }));
  });
  // A form that is sent twice in a hurry is sent once.
  document.addEventListener("submit", (event) => {
    if (event.defaultPrevented) return;
    const button = event.submitter;
    if (button) setTimeout(() => { button.disabled = true; setTimeout(() => { button.disabled = false; }, 4000); });
  });
}
