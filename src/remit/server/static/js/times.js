// Keeps "4 min ago" true. The words are those of the server.
const span = (seconds) => seconds < 60 ? `${seconds} s` : seconds < 3600 ? `${Math.floor(seconds / 60)} min` : seconds < 86400 ? `${Math.floor(seconds / 3600)} h` : Math.floor(seconds / 86400) === 1 ? "1 day" : `${Math.floor(seconds / 86400)} days`;

export const ago = (at, now = Date.now()) => {
  const seconds = Math.round((now - at) / 1000);
  if (Math.abs(seconds) < 20) return "now";
  return seconds > 0 ? `${span(seconds)} ago` : `in ${span(-seconds)}`;
};

const tick = () => { for (const time of document.querySelectorAll("time[data-ago]")) { const said = ago(Date.parse(time.dateTime)); if (time.textContent !== said) time.textContent = said; } };
setInterval(tick, 10000);
