// One socket for the page: resumes after the last event it saw, and says when it is not there.
const listeners = new Set();
const state = { socket: null, seq: Number(document.body.dataset.seq || 0), tries: 0, timer: null, last: new Date() };

export const hear = (listener) => { listeners.add(listener); return () => listeners.delete(listener); };
export const seq = () => state.seq;

export function start() {
  if (!document.body.dataset.seq) return; // nobody is signed in
  connect();
  document.querySelector("[data-retry]")?.addEventListener("click", () => { clearTimeout(state.timer); connect(); });
  addEventListener("online", () => { clearTimeout(state.timer); connect(); });
}

function connect() {
  if (state.socket && state.socket.readyState < 2) return;
  const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`);
  state.socket = socket;
  socket.addEventListener("open", () => {
    state.tries = 0;
    socket.send(JSON.stringify({ subscribe: ["*"], since: state.seq, counts: true }));
    offline(null);
    tell({ type: "open" });
  });
  socket.addEventListener("message", (message) => {
    const event = JSON.parse(message.data);
    state.last = new Date();
    // An event that is told in several messages counts as heard with the last of them.
    if (event.seq && event.type !== "resync" && !event.more) state.seq = Math.max(state.seq, event.seq);
    if (event.type === "resync") state.seq = event.seq;
    if (event.type === "counts") counts(event);
    tell(event);
  });
  socket.addEventListener("close", (event) => {
    if (event.code === 1008 || event.code === 4401) { location.reload(); return; } // signed out
    const wait = Math.min(30, 2 ** state.tries++ * 0.5) * (0.75 + Math.random() / 2);
    offline(Math.ceil(wait));
    state.timer = setTimeout(connect, wait * 1000);
  });
}

const tell = (event) => { for (const listener of listeners) listener(event); };

function counts(event) {
  for (const [name, value] of Object.entries(event.counts ?? {})) {
    for (const place of document.querySelectorAll(`[data-count="${CSS.escape(name)}"]`)) {
      const words = place.querySelector(".sr");
      place.firstChild?.nodeType === 3 ? (place.firstChild.data = value) : place.prepend(String(value));
      if (words) place.hidden = value === 0;
    }
  }
  const waiting = event.counts?.waiting;
  if (waiting !== undefined) document.title = document.title.replace(/^(\(\d+\) )?/, waiting ? `(${waiting}) ` : "");
}

let ticking = null;
function offline(seconds) {
  clearInterval(ticking);
  const banner = document.getElementById("offline");
  if (!banner) return;
  document.documentElement.classList.toggle("offline", seconds !== null);
  if (seconds === null) { banner.hidden = true; return; }
  const words = banner.querySelector("[data-offline-words]");
  const was = state.last.toLocaleTimeString([], { hour12: false, timeZone: document.body.dataset.zone || undefined });
  const say = () => { words.textContent = `Connection lost. Showing what was true at ${was}. Trying again in ${Math.max(0, seconds--)} s. Your edits are kept.`; };
  // A moment without a line is no news.
  if (state.tries > 1) { say(); banner.hidden = false; ticking = setInterval(say, 1000); tell({ type: "offline" }); }
}
