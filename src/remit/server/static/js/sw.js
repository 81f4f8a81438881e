// Runs while no page does: shows what was pushed, and opens its page on a click. It fetches nothing.
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

const pages = () => self.clients.matchAll({ type: "window", includeUncontrolled: true });

self.addEventListener("push", (event) => event.waitUntil((async () => {
  let told = {};
  try { told = event.data?.json() ?? {}; } catch { /* what cannot be read still means: look */ }
  // Whoever has a page in front sees it there.
  if ((await pages()).some((page) => page.focused)) return;
  await self.registration.showNotification(told.title ?? "Remit", {
    body: told.body ?? "Something needs you.",
    tag: told.tag ?? "remit",
    icon: "/static/icon-192.png",
    data: told.href ?? "/inbox",
    actions: (told.href ?? "").startsWith("/inbox/") ? [{ action: "open", title: "Look and approve" }] : [],
  });
})()));

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const there = new URL(event.notification.data ?? "/inbox", self.location.origin);
  const href = there.origin === self.location.origin ? there.href : "/inbox";
  event.waitUntil((async () => {
    const page = (await pages())[0];
    if (page) {
      await page.focus();
      const gone = await page.navigate(href).catch(() => null);
      if (gone) return;
    }
    await self.clients.openWindow(href);
  })());
});
