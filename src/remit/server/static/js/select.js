// Rows are picked one by one, in a range with Shift, all that are shown, or all that match.
const form = document.getElementById("bulk");
const preview = document.getElementById("bulk-preview");
const picked = new Set(); // ids, so that a row that is drawn anew stays picked
let last = null;

const boxes = () => [...form.querySelectorAll("#rows .check")];
const every = () => form.querySelector("[data-every]");
const row = (box) => box.closest("tr");

if (form) {
  form.addEventListener("click", (event) => { if (event.target.matches("#rows .check")) pick(event.target, event.shiftKey); });
  form.querySelector("[data-all]").addEventListener("change", (event) => { for (const box of boxes()) box.checked = event.target.checked; tell(); });
  every().addEventListener("change", () => { if (every().checked) for (const box of boxes()) box.checked = true; tell(); });
  form.querySelector("[data-clear]").addEventListener("click", clear);
  form.addEventListener("submit", ask);
  preview.addEventListener("click", (event) => { if (event.target.closest("[data-close]")) event.preventDefault(); }); // what is picked stays picked
  document.addEventListener("remit:drawn", (event) => { const box = event.target.querySelector?.(".check"); if (box && picked.has(box.value)) { box.checked = true; mark(box); } });
  document.addEventListener("remit:more", tell);
  document.addEventListener("keydown", space);
  tell();
}

function pick(box, range) {
  const all = boxes(), from = all.indexOf(last), to = all.indexOf(box);
  if (range && from >= 0) for (const each of all.slice(Math.min(from, to), Math.max(from, to) + 1)) each.checked = box.checked;
  last = box;
  if (!box.checked) every().checked = false;
  tell();
}

function clear() {
  for (const box of boxes()) box.checked = false;
  every().checked = false;
  tell();
}

function mark(box) { box.checked ? row(box).setAttribute("aria-selected", "true") : row(box).removeAttribute("aria-selected"); }

function tell() {
  picked.clear();
  for (const box of boxes()) { if (every().checked) box.checked = true; mark(box); if (box.checked) picked.add(box.value); }
  const total = Number(every().dataset.total);
  const n = every().checked ? total : picked.size;
  form.querySelector("[data-picked]").textContent = `${n.toLocaleString("en")} selected`;
  const all = form.querySelector("[data-all]");
  all.checked = boxes().length > 0 && picked.size === boxes().length;
  all.indeterminate = picked.size > 0 && !all.checked;
}

// Space picks the row under the cursor; on a button it presses that, elsewhere it holds the list.
function space(event) {
  if (event.key !== " " || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest?.("button, summary, input, textarea, select")) { event.stopPropagation(); return; }
  const box = form.querySelector("#rows .cursor .check");
  if (!box || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  box.checked = !box.checked;
  pick(box, event.shiftKey);
}

// What would happen is shown before it happens. Without a script the same stands on a page of its own.
async function ask(event) {
  if (!event.submitter?.value) return;
  event.preventDefault();
  const said = new URLSearchParams(new FormData(form, event.submitter)).toString();
  const headers = { "HX-Request": "true", "Content-Type": "application/x-www-form-urlencoded" };
  const answer = await fetch(form.getAttribute("action"), { method: "POST", body: said, headers, credentials: "same-origin" }).catch(() => null);
  if (!answer?.ok) { form.removeEventListener("submit", ask); form.requestSubmit(event.submitter); return; } // its page says what is wrong
  preview.innerHTML = await answer.text(); // our own template, escaped on the server
  preview.showModal();
}
