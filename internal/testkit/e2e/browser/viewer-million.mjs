// A profile of a million samples: opened, zoomed and searched, merged and in order of time. Each response stays below the limit.
import assert from 'node:assert/strict';
import { work } from './work.mjs';
import { zoom } from './zoom.mjs';

export default async function (page, url) {
  const api = async (path) => (await fetch(new URL('/api/' + path, url))).json();
  const [{ id, samples, threads }] = (await api('profiles')).profiles;
  const { thread_list: list } = await api('profiles/' + id);
  const result = { samples, threads, largest: 0 };
  page.on('response', async (response) => {
    const body = await response.body().catch(() => ''); // of aborted requests
    result.largest = Math.max(result.largest, body.length);
  });
  const timed = async (act) => {
    const begin = performance.now();
    await act();
    return Math.round(performance.now() - begin);
  };
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto(new URL('/#/', url).href);
  await page.waitForSelector('.listing tbody tr');

  // The busiest thread has three quarters of the samples. Zooming loads details, searching finds functions.
  result.open = await timed(async () => {
    await page.click(`a[href="#/profile/${id}"]`);
    await page.waitForSelector('canvas[data-boxes]');
  });
  assert.equal(await page.inputValue('select'), list[0].id);
  assert.equal(list[0].samples, samples * 3 / 4);
  result.merged = await explore(page);
  result.all = await timed(async () => {
    const { total } = await api(`flame?profile=${id}&active=1`);
    await page.selectOption('select', '');
    await page.waitForSelector(`.sum[data-total="${total}"]`);
  });
  result.byTime = await timed(async () => {
    await page.click('text=By time');
    await page.waitForSelector('.axis');
  });
  result.ordered = await explore(page);
  return result;
}

// explore zooms in and out, then shows up to three matches of a search one after the other, and the last one in detail.
async function explore(page) {
  const result = await work(page, 60, () => zoom(page));
  await page.press('.chart', 'Escape');
  const begin = performance.now();
  await page.fill('.search input', '^f1[0-9]$');
  await page.waitForSelector('[aria-label="Next match"]:enabled');
  const matches = parseInt(await page.textContent('.found'), 10);
  for (let i = 1; i <= Math.min(3, matches); i++) {
    await page.press('.search input', 'Enter');
    await page.waitForSelector(`.found:has-text("${i} of ")`);
  }
  await page.click('[aria-label="Zoom in"]');
  await page.waitForSelector('canvas[data-detail="true"]');
  result.search = Math.round(performance.now() - begin);
  await page.fill('.search input', '');
  await page.waitForSelector('.found', { state: 'detached' });
  await page.press('.chart', 'Escape');
  return result;
}
