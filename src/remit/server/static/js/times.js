// Keeps "4 min ago" true. The words are those of the server.
const span = (seconds) => seconds < 60 ? `${seconds} s` : seconds < 3600 ? `${Math.floor(seconds / 60)} min` : seconds < 86400 ? `${Math.floor(seconds / 3600)} h` : Math.floor(seconds / 86400) === 1 ? "1 day" : `${Math.floor(seconds / 86400)} days`;

// What is ahead reads as it was said a moment ago: 2 hours less 4 minutes are "in 2 h".
const ahead = (seconds) => span(seconds < 58 ? seconds : seconds + Math.max(2, seconds / 30));

export const ago = (at, now = Date.now()) => {
  const seconds = Math.round((now - at) / 1000);
  if (Math.abs(seconds) < 20) return "now";
  return seconds > 0 ? `${span(seconds)} ago` : `in ${ahead(-seconds)}`;
};

const tick = () => { for (const time of document.querySelectorAll("time[data-ago]")) { const said = ago(Date.parse(time.dateTime)); if (time.textContent !== said) time.textContent = said; } };
setInterval(tick, 10000);
