// node drive.mjs <chromium>
//
// Starts Chromium and runs scenarios in it, several at a time. A line of JSON on standard input, {"id", "scenario", "url", "folder"}, opens the
// URL in a new, empty context (own storage, cache and cookies) and runs the scenario: a module whose default export takes the page,
// the URL and the folder, if there is one. For each scenario a line on standard output reports what the page did: its requests to other
// origins with their answers, preflights among them, and its errors; and what the scenario returns, as result, or why it failed and what
// the page showed, as failure. The end of standard input ends Chromium.
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';

const timeout = 120_000; // for a busy machine: nothing of a scenario takes more than seconds on an idle one

const browser = await chromium.launch({
  executablePath: process.argv[2],
  timeout,
  // Containers run as root, where Chromium's sandbox refuses to start. Nothing is fetched but what the page asks for.
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'],
});
const running = new Set();
for await (const line of createInterface({ input: process.stdin })) {
  const { id, scenario, url, folder } = JSON.parse(line);
  const done = run(scenario, url, folder)
    .catch((error) => ({ failure: [error?.cause, error].map((e) => e?.stack ?? '').join('\n') }))
    .then((report) => { console.log(JSON.stringify({ id, ...report })); running.delete(done); });
  running.add(done);
}
await Promise.all(running);
await browser.close();

// run answers a challenge with the credentials in the URL.
async function run(scenario, given, folder) {
  const { username, password } = new URL(given);
  const url = username ? given.replace(`${username}:${password}@`, '') : given;
  const context = await browser.newContext(username ? { httpCredentials: { username, password } } : {});
  try {
    context.setDefaultTimeout(timeout);
    const page = await context.newPage();
    const traffic = await listen(page, new URL(url).origin);
    await page.goto(url);
    try {
      return { ...traffic, result: await (await import(scenario)).default(page, url, folder) };
    } catch (error) {
      const text = await page.innerText('body').catch(() => '(closed)');
      throw new Error(`${page.url()} shows ${JSON.stringify(text.slice(0, 1000))}`, { cause: error });
    }
  } finally {
    await context.close();
  }
}

// listen asks the browser itself: preflights do not show in the page, nor in Playwright's own events.
async function listen(page, origin) {
  const traffic = { requests: [], errors: [] };
  const byId = new Map();
  const session = await page.context().newCDPSession(page);
  session.on('Network.requestWillBeSent', ({ requestId, request }) => {
    if (new URL(request.url).origin === origin || request.url.startsWith('data:')) return; // Chromium draws inputs for dates with images
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
