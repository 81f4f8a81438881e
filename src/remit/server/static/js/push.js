// The switch "Tell this browser". Permission is asked for on its click, and at no other time.
const button = document.querySelector("[data-push]"), state = document.querySelector("[data-push-state]");
const can = "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
let told = { on: button?.dataset.push === "on" };

const ask = async (method, body) => {
  const answer = await fetch("/api/push", { method, headers: { "Content-Type": "application/json" }, body: body && JSON.stringify(body) });
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.detail);
  told = said;
};

const raw = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));

async function turnOn() {
  if (await Notification.requestPermission() !== "granted") return;
  const worker = await navigator.serviceWorker.register("/sw.js");
  await navigator.serviceWorker.ready;
  await ask("GET");
  // An old one may be sealed for another key of ours.
  await (await worker.pushManager.getSubscription())?.unsubscribe();
  const made = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: raw(told.publicKey) });
  const { endpoint, keys } = made.toJSON();
  await ask("POST", { endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth } });
  localStorage.removeItem("notices"); // else a hidden page would say it a second time
}

async function turnOff() {
  await ask("DELETE");
  const worker = await navigator.serviceWorker.getRegistration("/");
  await (await worker?.pushManager.getSubscription())?.unsubscribe();
}

function show(wrong) {
  const blocked = can && Notification.permission === "denied";
  button.disabled = !can || (blocked && !told.on);
  button.setAttribute("aria-checked", String(told.on));
  state.textContent = wrong ? wrong : !can ? "This browser has none" : blocked ? "Blocked in the browser's settings" : told.on ? "On" : "Off";
}

if (button) {
  button.addEventListener("click", async () => {
    button.disabled = true;
    let wrong = "";
    try { await (told.on ? turnOff() : turnOn()); } catch (error) { wrong = `It did not work: ${error.message}`; }
    show(wrong);
  });
  show();
}
