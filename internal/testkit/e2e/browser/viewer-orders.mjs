// The inverted graph and the sandwich of a profile after `make demo`, clicked through; each total is held against the merged graph.
import assert from 'node:assert/strict';

export default async function (page, url) {
  const api = async (path) => (await fetch(new URL('/api/' + path, url))).json();
  const sum = (graph) => graph.boxes.reduce((total, box) => total + (box[0] === 1 ? box[4] : 0), 0); // of the first row
  const self = (graph) => graph.boxes.reduce((total, box) => total + box[5], 0);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.setViewportSize({ width: 1280, height: 860 });
  const { profiles } = await api('overview');
  const profile = profiles.filter((p) => p.service === 'shop-py').sort((a, b) => b.samples - a.samples)[0];
  const path = `flame?profile=${profile.id}&active=1&pixels=1280`;
  const merged = await api(path);
  await page.goto(new URL(`/#/profile/${profile.id}?threads=all`, url).href);
  await page.waitForSelector(`canvas[data-boxes="${merged.boxes.length}"]`);

  // Inverted: the same total, and the functions in the first row are those with self time.
  const inverted = await api(path + '&view=inverted');
  assert.equal(sum(inverted), merged.total);
  assert.equal(self(inverted), 0, 'stacks end at their outermost callers');
  await page.click('.choice >> text=Inverted');
  await page.waitForSelector(`canvas[data-boxes="${inverted.boxes.length}"][data-right="${merged.total}"]`);
  const first = inverted.boxes.filter((b) => b[0] === 1 && b[6] === 0);
  for (const box of first) {
    const frame = inverted.frames[box[3]];
    assert.equal(box[4], merged.top.find((f) => f.number === frame.number).self, frame.name);
  }
  await page.focus('.chart');
  for (const key of ['ArrowDown', 'ArrowDown']) await page.keyboard.press(key);
  const heaviest = inverted.frames[first[0][3]].name;
  assert.ok((await page.textContent('.status')).startsWith(heaviest));

  // Sandwich: callers and callees of the heaviest function, then of another one; both weigh as much as the table says.
  await page.click('.choice >> text=Sandwich');
  const halves = async (f) => {
    for (const view of ['callers', 'callees']) {
      const half = await api(`${path}&view=${view}&function=${f.number}`);
      assert.equal(half.total, f.total, `${view} of ${f.name}`);
      assert.equal(sum(half), f.total);
      assert.equal(self(half), view === 'callers' ? 0 : f.total);
      await page.waitForSelector(`.half[data-view="${view}"][data-total="${f.total}"] canvas[data-boxes="${half.boxes.length}"]`);
      assert.equal(await page.textContent(`.half[data-view="${view}"] h2 bdi`), f.name);
    }
    await page.waitForSelector(`.details h2 bdi:text-is("${f.name}")`);
  };
  await halves(merged.top[0]);
  const query = merged.top.find((f) => f.name === 'query');
  await page.click('.functions .name bdi:text-is("query")');
  await halves(query);

  // The zoom of the callers is not that of the callees, and the address has both, and the function.
  const half = (view) => page.locator(`.half[data-view="${view}"]`);
  await half('callers').getByRole('button', { name: 'Zoom in' }).click();
  await page.waitForFunction(() => /callers=\d+-\d+/.test(location.hash));
  assert.equal(await half('callees').locator('canvas').getAttribute('data-right'), String(query.total));
  const left = await half('callers').locator('canvas').getAttribute('data-left');
  assert.notEqual(left, '0');
  await page.reload();
  await page.waitForSelector(`.half[data-view="callers"] canvas[data-left="${left}"]`);
  await page.goBack();
  await halves(query);
  await page.goBack();
  await halves(merged.top[0]);

  return { inverted: inverted.boxes.length, functions: first.length, query: query.total };
}
