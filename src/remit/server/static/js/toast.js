// A word at the foot of the page, with a way back while there is one.
for (const toast of document.querySelectorAll("#toasts [data-seconds]")) run(toast);

export function say(words, seconds = 5) {
  const toast = document.createElement("div");
  toast.className = "toast"; toast.textContent = words; toast.dataset.seconds = seconds;
  document.getElementById("toasts").append(toast);
  run(toast);
}

function run(toast) {
  let left = Number(toast.dataset.seconds);
  const words = toast.querySelector("[data-left]");
  toast.querySelector(".bar")?.animate([{ transform: "scaleX(1)" }, { transform: "scaleX(0)" }], { duration: left * 1000, fill: "forwards" });
  const timer = setInterval(() => {
    left -= 1;
    if (words) words.textContent = `${Math.max(0, left)} s`;
    if (left <= 0) { clearInterval(timer); toast.remove(); }
  }, 1000);
}
