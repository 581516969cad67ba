// Live updates: data that arrives appears in the open view, unless the updates are paused; clear deletes everything. The query of the
// URL says where the collector listens for SDKs.
import assert from 'node:assert/strict';

const trace = 'a'.repeat(32);
const span = 'b'.repeat(16);
const profiler = 'c'.repeat(32);

export default async function (page, url) {
  const sdk = new URL(url).searchParams.get('sdk');
  const send = async (type, item, more = {}) => {
    const body = JSON.stringify(item);
    const response = await fetch(`http://${sdk}/api/1/envelope/?sentry_key=0123456789abcdef0123456789abcdef`, {
      method: 'POST', body: `{}\n${JSON.stringify({ type, ...more, length: Buffer.byteLength(body) })}\n${body}\n`,
    });
    assert.equal(response.status, 200);
  };
  const begin = Date.now() / 1000;
  const log = (body) => send('log', { items: [{ timestamp: Date.now() / 1000, trace_id: trace, span_id: span, level: 'info', body }] },
    { item_count: 1, content_type: 'application/vnd.sentry.items.log+json' });
  const chunk = (id, name) => send('profile_chunk', {
    version: '2', profiler_id: profiler, chunk_id: id.repeat(32), platform: 'python', release: 'shop@1',
    profile: {
      frames: [{ function: name, filename: 'shop.py', in_app: true }], stacks: [[0]],
      samples: [0.01, 0.02, 0.03].map((at) => ({ timestamp: begin + at, thread_id: '1', stack_id: 0 })), thread_metadata: { 1: { name: 'main' } },
    },
  });
  const row = (text) => page.waitForSelector(`.records .body:text-is("${text}")`);
  const go = (hash) => page.evaluate((hash) => { location.hash = hash; }, hash);
  await page.evaluate(() => { globalThis.unloaded = 'no'; });
  const sent = [];
  page.on('request', (request) => sent.push(new URL(request.url()).pathname));

  // Overview: the empty page gets its first data.
  await page.waitForSelector('.code pre');
  await log('first');
  await page.waitForSelector('h2:has-text("Traces")');

  // Logs.
  await go('#/logs');
  await row('first');
  await log('second');
  await row('second');

  // A trace, its logs, and the samples of a span.
  await send('transaction', {
    type: 'transaction', transaction: 'GET /', start_timestamp: begin, timestamp: begin + 1, release: 'shop@1', platform: 'python',
    contexts: { trace: { trace_id: trace, span_id: span, op: 'http.server', data: { 'thread.id': '1' } }, profile: { profiler_id: profiler } },
  });
  await chunk('1', 'before');
  await go('#/');
  await page.click('.listing a[href^="#/trace/"]');
  await page.click('.waterfall button:has-text("GET /")');
  await page.waitForSelector('.functions .name bdi:text-is("before")');
  await chunk('2', 'after');
  await page.waitForSelector('.functions .name bdi:text-is("after")');
  await page.waitForSelector('.functions .name bdi:text-is("before")');
  await log('third');
  await row('third');

  // Problems.
  await go('#/problems');
  await send('profile_chunk', { version: '3' });
  await page.waitForSelector('.grid tbody tr:has-text("profile_chunk items")');

  // Pause: a mark shows that there is new data; the data itself waits.
  await go('#/logs');
  await row('third');
  await page.click('.live button[title^="Pause"]');
  await log('fourth');
  await page.waitForSelector('.live .dot');
  assert.equal(await page.locator('.records .body:text-is("fourth")').count(), 0);
  await page.click('.live button[title^="Resume"]');
  await row('fourth');
  assert.equal(await page.locator('.live .dot').count(), 0);

  // An unchanged page requests nothing.
  const before = sent.length;
  await page.waitForTimeout(3000);
  assert.deepEqual(sent.slice(before), []);

  // Clear.
  const questions = [];
  page.on('dialog', (dialog) => { questions.push(dialog.message()); dialog.accept(); });
  await page.click('.live button[title^="Delete"]');
  await page.waitForSelector('.code pre');
  assert.equal(questions.length, 1);
  const overview = await (await fetch(new URL('/api/overview', url))).json();
  assert.deepEqual([overview.services, overview.profiles, overview.traces, overview.bytes], [[], [], [], 0]);
  await log('fifth');
  await page.waitForSelector('text=None yet.');
  assert.equal(await page.evaluate(() => globalThis.unloaded), 'no', 'the page was never loaded again');
  return { requests: sent.length };
}
