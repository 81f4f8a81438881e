// A file is kept by the server as soon as it is chosen; the form then names it by its hash.
import { say } from "./toast.js";

const base64 = (file) => new Promise((done, failed) => {
  const reader = new FileReader();
  reader.onload = () => done(reader.result.slice(reader.result.indexOf(",") + 1));
  reader.onerror = () => failed(reader.error);
  reader.readAsDataURL(file);
});

async function keep(file) {
  const body = JSON.stringify({ name: file.name, content: await base64(file) });
  const answer = await fetch("/api/files", { method: "POST", body, headers: { "Content-Type": "application/json" }, credentials: "same-origin" });
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.detail);
  return told;
}

function list(input, told) {
  const line = document.createElement("li"), field = document.createElement("input"), drop = document.createElement("button");
  field.type = "hidden"; field.name = "file"; field.value = `${told.sha256} ${told.name}`;
  drop.type = "button"; drop.className = "btn ghost s"; drop.textContent = "Remove";
  drop.addEventListener("click", () => line.remove());
  line.className = "row small"; line.append(told.name, field, drop);
  input.form.querySelector(".attach ul").append(line);
}

for (const input of document.querySelectorAll("[data-files]")) {
  const button = input.form.querySelector("[type=submit]");
  input.removeAttribute("name"); // without this script the form itself carries the files
  input.form.addEventListener("reset", () => input.form.querySelector(".attach ul").replaceChildren());
  input.addEventListener("change", async () => {
    button.disabled = true;
    for (const file of input.files) {
      try { list(input, await keep(file)); } catch (error) { say(`The file was not kept: ${error.message}`); }
    }
    input.value = "";
    button.disabled = false;
  });
}
