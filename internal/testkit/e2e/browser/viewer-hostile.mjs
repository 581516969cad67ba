// Hostile names on the page: they are text and nothing else, and the page stays as wide as it is.
import assert from 'node:assert/strict';

export default async function (page, url) {
  const dialogs = [];
  page.on('dialog', (d) => { dialogs.push(d.message()); d.dismiss(); });
  const seen = [];
  for (const hash of ['#/', '#/profile/1', '#/profile/1?order=time', '#/logs']) {
    await page.goto(new URL('/' + hash, url).href);
    await page.waitForSelector(hash.startsWith('#/profile') ? 'canvas[data-boxes]' : hash === '#/logs' ? '.records' : '.listing');
    if (hash.startsWith('#/profile')) await page.click('text=Graph as text');
    seen.push(await page.evaluate(() => document.body.innerText));
    assert.equal(await page.evaluate(() => globalThis.pwned), undefined);
    assert.equal(await page.locator('img[src="x"]').count(), 0);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), hash);
  }
  for (const button of await page.goto(new URL('/#/profile/1', url).href).then(() => page.waitForSelector('.functions button.link')).then(() => page.locator('.functions button.link').all())) {
    await button.click();
    await page.waitForSelector('.details h2');
  }
  assert.deepEqual(dialogs, []);
  return seen;
}
