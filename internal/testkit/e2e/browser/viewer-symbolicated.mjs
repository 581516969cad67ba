// Symbolicated profiles and errors: names from symbol files, and as the SDK reported them. The query of the URL has the profile of each family.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { checkView } from './views.mjs';

const shots = fileURLToPath(new URL('../../../../output/screenshots/', import.meta.url));

export default async function (page, url) {
  mkdirSync(shots, { recursive: true });
  const api = async (path) => (await fetch(new URL('/api/' + path, url))).json();
  const open = (hash) => page.goto(new URL('/' + hash, url).href);
  const result = { findings: [], families: {} };
  for (const [family, id] of new URL(url).searchParams) {
    const shows = async (query) => { // in the table
      const { top, boxes } = await api(`flame?profile=${id}&pixels=1280${query}&active=1`);
      const names = top.map((f) => f.name);
      await page.waitForFunction((names) => JSON.stringify([...document.querySelectorAll('.functions .name button bdi')].map((b) => b.textContent)) === names, JSON.stringify(names));
      await page.waitForSelector(`canvas[data-boxes="${boxes.length}"]`);
      return names;
    };
    await page.setViewportSize({ width: 1440, height: 900 });
    await open(`#/profile/${id}`);
    const named = await shows('');
    await page.click('.functions .name button >> nth=0');
    await page.waitForSelector(`.details h2 bdi:text-is("${named[0]}")`);
    const details = await page.innerText('.details');
    await page.screenshot({ path: `${shots}symbolicated-${family}.png` });
    await page.check('text=Raw names');
    const raw = await shows('&raw=1');
    assert.match(page.url(), /raw=1/);
    await page.screenshot({ path: `${shots}symbolicated-${family}-raw.png` });
    await page.uncheck('text=Raw names');
    assert.deepEqual(await shows(''), named);
    result.families[family] = { named, raw, details };
  }
  const [profile] = new URL(url).searchParams.values(); // the families differ only in text
  result.findings.push(...await checkView(page, url, 'symbolicated', `#/profile/${profile}?raw=1`, 'canvas[data-boxes]'));

  // An error shows both names of each frame.
  const { groups } = await api('errors?q=shop.ts');
  assert.equal(groups.length, 1);
  result.findings.push(...await checkView(page, url, 'symbolicated-error', `#/error/${groups[0].id}`, '.frame .raw'));
  result.frames = await page.locator('.frame').allInnerTexts();
  return result;
}
