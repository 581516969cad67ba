// What a user does with a flame graph: search with a regular expression, the tip, the menu, the list of keys, the editor, and the log
// records on the timeline.
import assert from 'node:assert/strict';
import { checkView } from './views.mjs';

export default async function (page, url) {
  const api = async (path) => (await fetch(new URL('/api/' + path, url))).json();
  const open = (hash) => page.goto(new URL('/' + hash, url).href);
  const boxes = (graph) => page.waitForSelector(`canvas[data-boxes="${graph.boxes.length}"]`);
  const total = (n) => page.waitForSelector(`.sum[data-total="${n}"]`);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: new URL(url).origin });
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.setViewportSize({ width: 1280, height: 860 });
  const { profiles } = await api('overview');
  const profile = profiles.filter((p) => p.service === 'shop-py').sort((a, b) => b.samples - a.samples)[0];
  const path = `flame?profile=${profile.id}&active=1&pixels=1280`;
  const all = await api(path);
  await open(`#/profile/${profile.id}?threads=all`);
  await boxes(all);

  // Search: a regular expression, its matches one after the other, and a text that is no expression.
  const pattern = '^(query|coupon)$|pric.*py';
  const wanted = all.top.filter((f) => [f.name, f.file, f.module].some((t) => t && new RegExp(pattern, 'i').test(t)));
  assert.ok(wanted.length > 1);
  await page.keyboard.press('/');
  await page.keyboard.type(pattern);
  const searched = await api(`${path}&q=${encodeURIComponent(pattern)}`);
  const hits = searched.boxes.filter((b) => b[7] === 1);
  await page.waitForSelector(`.found:has-text("${hits.length};")`);
  await page.waitForFunction((n) => document.querySelectorAll('.functions tbody tr').length === n, wanted.length);
  await page.keyboard.press('Enter');
  await page.waitForSelector(`.found:has-text("1 of ${hits.length}")`);
  if (hits[0][6] === 0) {
    const { name } = searched.frames[hits[0][3]];
    await page.waitForFunction((name) => document.querySelector('.status').textContent.startsWith(name), name);
  }
  await page.click('[aria-label="Next match"]');
  await page.waitForSelector(`.found:has-text("2 of ${hits.length}")`);
  await page.focus('.search input');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.press('Shift+Enter');
  await page.waitForSelector(`.found:has-text("${hits.length} of ${hits.length}")`);
  await page.fill('.search input', 'query(');
  await page.waitForSelector(`.found:has-text("0;")`);
  await page.fill('.search input', '');
  await page.waitForSelector('.found', { state: 'detached' }); // which moves the graph
  await open(`#/profile/${profile.id}?threads=all`);
  await boxes(all);
  await page.evaluate(async () => { // back from the last match, which may be further down
    document.querySelector('.chart').scrollTop = 0;
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
  });

  // The tip follows the pointer.
  const canvas = page.locator('canvas');
  const { width } = await canvas.boundingBox();
  const at = (b) => ({ position: { x: (width * (b[1] + b[2] / 2)) / all.total, y: 20 * b[0] + 10 } });
  const [, , box] = all.boxes;
  const name = all.frames[box[3]].name;
  await canvas.hover(at(box));
  assert.equal(await page.textContent('.tip div:first-child'), name);

  // The menu: focus, hide and collapse change the stacks, each can be undone; copy.
  const number = all.frames[box[3]].number;
  const query = all.top.find((f) => f.name === 'query');
  const choose = async (b, item) => {
    await canvas.click({ ...at(b), button: 'right' });
    await page.click(`[role=menuitem]:text-is("${item}")`);
  };
  await choose(box, 'Hide this function');
  const hidden = await api(`${path}&hide=${number}`);
  assert.equal(hidden.total, all.total);
  await boxes(hidden);
  assert.ok(!hidden.frames.some((f) => f.number === number));
  await page.click(`.changes .chip:has-text("Without ${name}")`);
  await boxes(all);
  await choose(box, 'Collapse its calls');
  const folded = await api(`${path}&fold=${number}`);
  assert.equal(folded.top.find((f) => f.number === number).self, all.top.find((f) => f.number === number)?.total ?? folded.top.find((f) => f.number === number).total);
  await boxes(folded);
  await page.goBack();
  await boxes(all);
  await open(`#/profile/${profile.id}?threads=all&focus=${query.number}`);
  await total(query.total);
  await page.reload();
  await page.waitForSelector('.changes .chip:has-text("Only stacks with query")');
  await page.click('.changes .chip');
  await total(all.total);
  await boxes(all);

  // The same menu by keyboard; the stack goes to the clipboard, the innermost function first.
  await page.focus('.chart');
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'm']) await page.keyboard.press(key);
  await page.waitForSelector('[role=menu]');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Zoom in');
  await page.keyboard.press('End');
  await page.keyboard.press('ArrowUp');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Copy stack');
  await page.keyboard.press('Enter');
  const stack = (await page.evaluate(() => navigator.clipboard.readText())).split('\n');
  assert.equal(stack.length, 2);
  assert.ok(stack[0].startsWith(name));
  assert.ok(stack[1].startsWith(all.frames[all.boxes[1][3]].name));

  // Keys and the editor: an address that is a script is refused.
  await page.focus('.chart');
  await page.keyboard.press('?');
  await page.waitForSelector('dialog[open]');
  await page.fill('dialog input', 'javascript:alert({file})');
  await page.waitForSelector('dialog .warn');
  assert.equal(await page.evaluate(() => localStorage.getItem('editor')), null);
  await page.selectOption('dialog select', { label: 'VS Code' });
  const stored = await page.evaluate(() => localStorage.getItem('editor'));
  await page.click('dialog button:text-is("Close")');
  await page.focus('.chart');
  for (const key of ['ArrowDown', 'm']) await page.keyboard.press(key);
  const href = await page.getAttribute('[role=menuitem]:text-is("Open in editor")', 'href');
  assert.match(href, /^vscode:\/\/file\/.*:1:1$/);
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('[role=menu]').count(), 0);
  await page.click('.functions .name bdi:text-is("query")');
  assert.match(await page.getAttribute('.details a.editor', 'href'), /^vscode:\/\/file\/.*:\d+:\d+$/);

  // Log records and errors on the timeline lead to the list of those records.
  const marked = profiles.find((p) => p.service === 'marked');
  const detail = await api(`profiles/${marked.id}`);
  const until = BigInt(detail.start) + BigInt(detail.duration);
  const records = await api(`logs?service=marked&after=${detail.start}&until=${until}`);
  assert.equal(records.count, 3);
  await open(`#/profile/${marked.id}`);
  await page.waitForSelector('.markers a');
  assert.equal(await page.locator('.markers a.bad').count(), 1);
  const findings = await checkView(page, url, 'marked', `#/profile/${marked.id}`, '.markers a');
  await open(`#/profile/${marked.id}?order=time`);
  await page.waitForSelector('.axis i');
  assert.equal(await page.locator('.axis i').count(), 3);
  await page.click('.markers a.bad');
  await page.waitForSelector('.records li');
  assert.match(await page.textContent('.records .body'), /failed/);
  findings.push(...await checkView(page, url, 'changed', `#/profile/${profile.id}?threads=all&focus=${query.number}&q=query`, '.changes .chip'));
  return { findings, hits: hits.length, stored };
}
