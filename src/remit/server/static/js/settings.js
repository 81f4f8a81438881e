// What a browser keeps for itself: look, keys, notices. And forms that need no button.
import { refresh } from "./live.js";
import { on as noticesOn, turn } from "./notices.js";

document.documentElement.classList.add("js");
document.querySelector(".setnav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
for (const group of document.querySelectorAll("[data-choice]")) {
  const name = group.dataset.choice, now = localStorage.getItem(name) ?? "";
  for (const input of group.querySelectorAll("input")) input.checked = input.value === now;
  group.addEventListener("change", (event) => {
    const value = event.target.value;
    value ? localStorage.setItem(name, value) : localStorage.removeItem(name);
    if (name === "theme") document.documentElement.dataset.theme = value || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  });
}
for (const select of document.querySelectorAll("[data-submits]")) select.addEventListener("change", () => select.form.requestSubmit());
for (const link of document.querySelectorAll("[data-fill]")) link.addEventListener("click", () => { const field = document.querySelector("#add input[name=name]"); field.value = link.dataset.fill; setTimeout(() => document.querySelector("#add select").focus()); });

const button = document.querySelector("[data-notices]"), state = document.querySelector("[data-notices-state]");
if (button) {
  const show = () => {
    const can = "Notification" in window;
    button.disabled = !can || Notification.permission === "denied";
    button.textContent = noticesOn() ? "Turn off" : "Turn on";
    state.textContent = !can ? "This browser has none" : Notification.permission === "denied" ? "Blocked in the browser's settings" : noticesOn() ? "On" : "Off";
  };
  button.addEventListener("click", async () => { await turn(!noticesOn()); show(); });
  show();
}
// What nobody pushes to a page is asked for until it has come.
setInterval(() => document.querySelectorAll("[data-poll]").forEach(refresh), 1500);
