// The largest recorded profile: the time until its first picture, the frames while it zooms, and the same file in speedscope.
import assert from 'node:assert/strict';
import { drawn } from './pixels.mjs';
import { work } from './work.mjs';
import { zoom } from './zoom.mjs';

export default async function (page, url) {
  const api = async (path) => (await fetch(new URL('/api/' + path, url))).json();
  const [{ id }] = (await api('overview')).profiles;
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto(new URL('/#/', url).href);
  await page.waitForSelector('.listing tbody tr');
  const result = {};

  // The first picture: boxes of the whole profile on the canvas. Its work is what the page requests until then.
  const responses = [];
  const count = (response) => responses.push(response.body().then((body) => body.length));
  page.on('response', count);
  let begin = performance.now();
  await page.click(`a[href="#/profile/${id}"]`);
  await page.waitForSelector('canvas[data-boxes]');
  result.firstGraph = Math.round(performance.now() - begin);
  page.off('response', count);
  result.requests = responses.length;
  result.bytes = (await Promise.all(responses)).reduce((sum, n) => sum + n, 0);
  result.boxes = Number(await page.getAttribute('canvas', 'data-boxes'));

  // Frames while zooming with the wheel, as the page itself counts them; the details of each level are requested meanwhile.
  result.merged = await work(page, 60, () => zoom(page));
  begin = performance.now();
  await page.click('text=By time');
  await page.waitForSelector('.axis');
  result.byTime = Math.round(performance.now() - begin);
  result.ordered = await work(page, 60, () => zoom(page));

  // All of it, in pixels.
  await page.setViewportSize({ width: 1440, height: 5000 });
  for (const [order, name] of [['', 'merged'], ['?order=time', 'time']]) {
    await page.goto(new URL(`/#/profile/${id}${order}`, url).href);
    await page.waitForSelector(order ? '.axis' : 'canvas[data-boxes]:not(.axis *)');
    let { width, busy, shown } = await drawn(page);
    for (let i = 0; (busy === 0 || shown < 0.999 * busy - 1) && i < 200; i++) { // until the details are there
      await page.waitForTimeout(50);
      ({ width, busy, shown } = await drawn(page));
    }
    assert.ok(busy > 0 && shown >= 0.999 * busy - 1, `${name}: ${shown} of ${busy} columns`);
    result[name + 'Pixels'] = [width, busy, shown];
  }

  // speedscope, with the file that the page offers.
  await page.setViewportSize({ width: 1440, height: 900 });
  begin = performance.now();
  await page.goto(new URL(`/speedscope/index.html#profileURL=${encodeURIComponent(`../api/download/speedscope?profile=${id}`)}`, url).href);
  await page.waitForSelector('text=/\\(\\d+\\/\\d+\\)|Left Heavy/');
  await page.waitForSelector('canvas');
  result.speedscope = Math.round(performance.now() - begin);
  return result;
}
