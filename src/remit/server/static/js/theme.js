// Light or dark, before the first paint: the system's choice until the owner makes one.
(() => {
  const chosen = localStorage.getItem("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const show = () => { document.documentElement.dataset.theme = localStorage.getItem("theme") ?? (dark.matches ? "dark" : "light"); };
  show();
  if (!chosen) dark.addEventListener("change", show);
})();
