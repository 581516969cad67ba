// The spans of traces over time: services, collapse, search, the critical path, errors and log records; and a trace of 100,000 spans.
import assert from 'node:assert/strict';
import { checkView } from './views.mjs';
import { work } from './work.mjs';

export default async function (page, url) {
  const api = async (path) => (await fetch(new URL('/api/' + path, url))).json();
  const open = (hash) => page.goto(new URL('/' + hash, url).href);
  const shown = (n) => page.waitForSelector(`.waterfall[data-rows="${n}"]`);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.setViewportSize({ width: 1440, height: 900 });
  const { traces } = await api('overview');
  const small = traces.find((t) => t.name === 'GET /order');
  const rows = await api(`traces/${small.id}/rows`);
  const name = (row) => rows.names[row[3]];
  await open(`#/trace/${small.id}`);
  await shown(rows.rows.length);
  assert.deepEqual(await page.locator('.waterfall .what bdi').allTextContents(), rows.rows.map(name));
  assert.deepEqual(await page.locator('.services bdi').allTextContents(), ['shop', 'bank']);
  assert.ok(await page.locator('.times .track span').count() >= 3);

  // The critical path: of two parallel calls, the later one.
  const critical = rows.rows.filter((r) => r[5] & 2).map(name);
  assert.deepEqual(critical, ['GET /order', 'reserve', 'pay', 'POST /charge']);
  assert.equal(await page.locator('.waterfall li.critical').count(), critical.length);
  await page.check('text=Only critical path');
  await shown(critical.length);
  await page.uncheck('text=Only critical path');
  await shown(rows.rows.length);

  // Errors and log records.
  assert.deepEqual(await page.locator('.waterfall li.failed .what bdi').allTextContents(), ['POST /charge']);
  assert.equal(await page.locator('.waterfall li .track i').count(), 1);
  assert.equal(await page.locator('.times i.bad').count(), 1);

  // Collapse by keyboard and with the buttons; search, which opens collapsed rows.
  await page.focus('.waterfall [role=treeitem] >> nth=0');
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowLeft']) await page.keyboard.press(key);
  await shown(rows.rows.length - 1);
  assert.equal(await page.locator('[aria-expanded=false]').count(), 1);
  await page.keyboard.press('ArrowRight');
  await shown(rows.rows.length);
  await page.click('text=Collapse all');
  await shown(rows.rows.filter((r) => r[0] <= 1).length);
  await page.fill('.search input', 'char.e$');
  await page.waitForSelector('.found:has-text("1 span")');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.waterfall li.match.current');
  await shown(rows.rows.length);
  await page.click('.waterfall [role=treeitem]:has-text("POST /charge")');
  await page.waitForSelector('h2:has-text("POST /charge")');
  await page.waitForSelector('.meta .bad:has-text("declined")');

  // Zoom around the selected span; the address has the visible range.
  const extents = page.locator('.waterfall .extent');
  await page.click('[aria-label="Zoom in"]');
  await page.waitForFunction(() => location.hash.includes('range=31250000-81250000'));
  await page.reload();
  await shown(rows.rows.length);
  assert.equal(await extents.count(), rows.rows.length - 2, 'two spans are earlier');
  assert.equal(await page.locator('.waterfall li:has-text("POST /charge") .extent').evaluate((e) => e.style.left), '7.5%');
  assert.deepEqual(await page.locator('.times .track span').allTextContents(), [35, 40, 45, 50, 55, 60, 65, 70, 75].map((t) => t + ' ms'));
  await page.click('.tools >> text=Show all');
  await page.waitForFunction(() => !location.hash.includes('range='));
  assert.equal(await extents.count(), rows.rows.length);
  const findings = await checkView(page, url, 'trace-rows', `#/trace/${small.id}`, '.waterfall li');

  // 100,000 spans: few rows are in the document; the last one is reached by key and by search.
  await page.setViewportSize({ width: 1440, height: 900 });
  const large = traces.find((t) => t.name === 'batch');
  const begin = performance.now();
  await open(`#/trace/${large.id}`);
  await shown(100_000);
  const first = Math.round(performance.now() - begin);
  const inDocument = await page.locator('.waterfall li').count();
  assert.ok(inDocument < 100, `${inDocument} rows`);
  await page.focus('.waterfall [role=treeitem] >> nth=0');
  await page.keyboard.press('End');
  await page.waitForSelector('.waterfall [data-row="99999"]');
  await page.waitForFunction(() => document.activeElement.dataset.row === '99999');
  await page.fill('.search input', 'needle');
  await page.press('.search input', 'Enter'); // before the search
  await page.waitForSelector('.waterfall li.match.current');
  const jumps = await work(page, 60, () => scroll(page, true)); // to other rows in each frame
  const wheel = await work(page, 60, () => scroll(page, false)); // three rows, as by a wheel
  await page.click('text=Collapse all');
  await shown(1000);
  findings.push(...await checkView(page, url, 'trace-large', `#/trace/${large.id}`, '.waterfall li'));
  return { findings, first, inDocument, jumps, wheel };
}

// scroll scrolls 60 times and returns the times between frames.
async function scroll(page, jump) {
  return page.evaluate(async (jump) => {
    const box = document.querySelector('.waterfall');
    const frames = [];
    let last = performance.now();
    for (let i = 0; i < 60; i++) {
      box.scrollTop = jump ? (box.scrollHeight * i) / 60 : 50_000 + 78 * i;
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      frames.push(now - last);
      last = now;
    }
    frames.sort((a, b) => a - b);
    return { median: Math.round(frames[30]), worst: Math.round(frames[59]) };
  }, jump);
}
