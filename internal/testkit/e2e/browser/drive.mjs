// node drive.mjs <chromium> <scenario> <url>
//
// Opens the URL in a new, empty Chromium, runs the scenario (a module whose default export takes the page and the URL) and
// prints what the page did as JSON: its requests to other origins with their answers, preflights among them, and its errors; and
// what the scenario returns, as result.
import { chromium } from 'playwright-core';

const [executablePath, scenario, url] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath,
  // Containers run as root, where Chromium's sandbox refuses to start. Nothing is fetched but what the page asks for.
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'],
});
try {
  const page = await browser.newPage();
  const traffic = await listen(page, new URL(url).origin);
  await page.goto(url);
  const result = await (await import(scenario)).default(page, url);
  console.log(JSON.stringify({ ...traffic, result }));
} finally {
  await browser.close();
}

// listen asks the browser itself: preflights do not show in the page, nor in Playwright's own events.
async function listen(page, origin) {
  const traffic = { requests: [], errors: [] };
  const byId = new Map();
  const session = await page.context().newCDPSession(page);
  session.on('Network.requestWillBeSent', ({ requestId, request }) => {
    if (new URL(request.url).origin === origin) return;
    const seen = { method: request.method, body: request.postData ?? '' };
    byId.set(requestId, seen);
    traffic.requests.push(seen);
  });
  session.on('Network.responseReceived', ({ requestId, response }) => {
    const seen = byId.get(requestId);
    if (seen) seen.answer = { status: response.status, headers: response.headers };
  });
  session.on('Network.loadingFailed', ({ requestId, errorText, corsErrorStatus }) => {
    const seen = byId.get(requestId);
    if (seen) seen.failed = corsErrorStatus?.corsError ?? errorText;
  });
  page.on('pageerror', (error) => traffic.errors.push(String(error)));
  await session.send('Network.enable', { maxPostDataSize: 1 << 20 });
  return traffic;
}
