// A notice of the browser when something needs its owner and no page is in front. It names nobody.
import { hear } from "./socket.js";

export const on = () => "Notification" in window && Notification.permission === "granted" && localStorage.getItem("notices") === "on";

export async function turn(wanted) {
  if (wanted && "Notification" in window && await Notification.requestPermission() === "granted") localStorage.setItem("notices", "on");
  else localStorage.removeItem("notices");
}

// The tag makes one notice of many; a second page of Remit does not say it again.
hear((event) => {
  if (event.type !== "task:needs-attention" || !document.hidden || !on()) return;
  const notice = new Notification("Remit", { body: "Something needs you.", tag: "remit-needs-you" });
  notice.onclick = () => { window.focus(); location.href = "/inbox"; notice.close(); };
});
