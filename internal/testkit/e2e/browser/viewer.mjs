// The page of the profile_viewer exporter after `make demo`: everything somebody does on it, each number held against the API.
// The query of the URL says where the collector listens for SDKs.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const shots = fileURLToPath(new URL('../../../../output/screenshots/', import.meta.url));

export default async function (page, url) {
  mkdirSync(shots, { recursive: true });
  const shot = (name) => page.screenshot({ path: `${shots}${name}.png` });
  const api = async (path) => (await fetch(new URL('/api/' + path, url))).json();
  const total = (n) => page.waitForSelector(`.sum[data-total="${n}"]`);
  const boxes = (n) => page.waitForSelector(`canvas[data-boxes="${n}"]`);
  const result = {};

  // The services, profiles and traces that there are.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.setViewportSize({ width: 1280, height: 860 });
  const overview = await api('overview');
  await page.waitForSelector('.listing tbody tr');
  result.services = await page.locator('label:has-text("Service") option').allTextContents();
  assert.deepEqual(result.services.slice(1), overview.services.map((s) => s.name));
  assert.equal(await page.locator('a[href^="#/profile/"]').count(), overview.profiles.length);
  await shot('overview');

  // Android: a method trace, a Perfetto trace, and React Native with a profile of its JavaScript.
  const found = new Set();
  for (const { id } of overview.profiles.filter((p) => p.service === 'io.example.shop')) {
    await page.click(`a[href="#/profile/${id}"]`);
    const [initial] = (await api(`profiles/${id}`)).thread_list;
    const { total: weight, boxes: drawn } = await api(`flame?profile=${id}&pixels=1280&thread=${encodeURIComponent(initial.id)}&active=1`);
    await total(weight);
    await boxes(drawn.length);
    (await api(`flame?profile=${id}`)).frames.forEach((f) => found.add(f.name));
    await page.goBack();
    await page.waitForSelector('.listing tbody tr');
  }
  // Methods have their class where the profile states it.
  for (const name of ['onCreate', 'wait', '_ZN4Shop4openEv', 'onPress']) assert.ok([...found].some((f) => f.split('.').at(-1) === name), `${name} in ${[...found]}`);

  // A profile: all of it, then one of its threads.
  const profile = overview.profiles.filter((p) => p.service === 'shop-py').sort((a, b) => b.samples - a.samples)[0];
  await page.click(`a[href="#/profile/${profile.id}"]`);
  const [initial] = (await api(`profiles/${profile.id}`)).thread_list;
  assert.doesNotMatch(initial.name, /sentry/);
  assert.equal(await page.inputValue('select'), initial.id);
  await total((await api(`flame?profile=${profile.id}&thread=${encodeURIComponent(initial.id)}&active=1`)).total);
  const all = await api(`flame?profile=${profile.id}&pixels=1280&active=1`);
  await page.selectOption('select', '');
  await total(all.total);
  await boxes(all.boxes.length);
  await shot('profile');
  const thread = all.threads[1];
  await page.selectOption('select', thread.id);
  const one = await api(`flame?profile=${profile.id}&thread=${thread.id}&active=1`);
  assert.equal(one.total, thread.weight);
  assert.notEqual(one.total, all.total);
  await total(one.total);
  result.thread = `${thread.name}: ${one.total} of ${all.total} ns`;
  await page.selectOption('select', '');
  await total(all.total);

  // Library code collapsed: fewer boxes, and the same weight.
  await page.check('text=Collapse libraries');
  const collapsed = await api(`flame?profile=${profile.id}&pixels=1280&collapse=1&active=1`);
  assert.ok(collapsed.boxes.length < all.boxes.length);
  assert.equal(collapsed.total, all.total);
  await boxes(collapsed.boxes.length);
  await page.uncheck('text=Collapse libraries');
  await boxes(all.boxes.length);

  // Threads that wait: left out at first, as the summary says.
  assert.ok(all.waiting > all.total, 'most samples of a server wait');
  assert.match(await page.innerText('.sum'), /of waiting threads are left out/);
  await page.check('text=Waiting threads');
  await total((await api(`flame?profile=${profile.id}`)).total);
  await shot('waiting');
  await page.uncheck('text=Waiting threads');
  await total(all.total);

  // Only the samples in spans.
  await page.check('text=Only in spans');
  const linked = await api(`flame?profile=${profile.id}&active=1&linked=1`);
  assert.ok(linked.total > 0 && linked.total < all.total);
  await total(linked.total);
  await page.uncheck('text=Only in spans');
  await total(all.total);

  // Search, in the graph and in the table.
  await page.keyboard.press('/');
  await page.keyboard.type('pricing');
  await page.waitForSelector('.found');
  const wanted = all.top.filter((f) => (f.name + f.file + f.module).includes('pricing'));
  assert.equal(await page.locator('.functions tbody tr').count(), wanted.length);
  await shot('search');
  await page.fill('input[type=search]', '');

  // What the table says, to be compared with what `go tool pprof` makes of the download.
  const rows = page.locator('.functions tbody tr');
  result.top = await rows.evaluateAll((list) => list.slice(0, 15).map((tr) => ({
    name: tr.querySelector('.name bdi').textContent, self: tr.cells[0].innerText, total: tr.cells[1].innerText,
  })));
  const [download] = await Promise.all([page.waitForEvent('download'), save(page, 'pprof')]);
  result.pprof = `${shots}${download.suggestedFilename()}`;
  await download.saveAs(result.pprof);

  // The keyboard: into the graph, down twice, open, show all again.
  await page.focus('.chart');
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(key);
  result.status = await page.textContent('.status');
  const third = all.frames[all.boxes[2][3]].name;
  assert.ok(result.status.startsWith(third), result.status);
  await page.keyboard.press('Enter');
  await page.waitForSelector(`.details h2 bdi:text-is("${third}")`); // instead of the spans of the profile
  await page.keyboard.press('Escape');
  await page.waitForSelector('canvas[data-left="0"]');
  await zooming(page, all);

  // The same in the order of time.
  await page.click('text=By time');
  await page.waitForSelector('.axis');
  assert.equal(await page.inputValue('select'), initial.id);
  await shot('by-time');
  await page.click('text=Merged');
  await page.selectOption('select', '');
  await total(all.total);

  // From a function to the spans that ran it, and the samples of that span, exactly.
  const query = all.top.find((f) => f.name === 'query');
  await page.click('.functions .name bdi:text-is("query")');
  await page.waitForSelector('.details h2:has-text("query")');
  const detail = await api(`frame?profile=${profile.id}&frame=${query.number}&active=1`);
  assert.equal(await page.locator('.details .spans a').count(), detail.spans.length);
  await page.click('.details .spans a >> nth=0');
  const { trace, span } = detail.spans[0];
  const ofSpan = await api(`flame?trace=${trace}&span=${span}&pixels=1280`);
  await total(ofSpan.total);
  await boxes(ofSpan.boxes.length);

  // A trace: spans that have samples are marked, and another span has other samples.
  const waterfall = await api(`traces/${trace}`);
  assert.equal(await page.locator('.waterfall li').count(), waterfall.spans);
  const sampled = waterfall.span_list.filter((s) => s.samples > 0);
  assert.equal(await page.locator('.waterfall .mark').count(), sampled.length);
  result.spans = [];
  for (const s of sampled) {
    await page.click(`.waterfall li:nth-child(${waterfall.span_list.indexOf(s) + 1}) button`);
    const graph = await api(`flame?trace=${trace}&span=${s.id}`);
    await page.waitForSelector(`code[title="span id"]:text-is("${s.id}")`);
    const { attributes } = await api(`traces/${trace}/spans/${s.id}`);
    assert.ok(attributes.length > 0);
    await page.waitForSelector(`.about th bdi:text-is("${attributes[0].key}")`, { state: 'attached' });
    await total(graph.total);
    assert.equal(graph.total + graph.idle, s.weight);
    assert.equal(graph.samples, s.samples);
    result.spans.push(`${s.name}: ${s.samples} samples, ${s.weight} ns`);
  }
  await shot('trace');

  // A trace opens with its root, and the root's samples or attributes.
  await page.goto(new URL(`/#/trace/${trace}`, url).href);
  await page.waitForSelector(`code[title="span id"]:text-is("${waterfall.span_list[0].id}")`);

  // The operations of a service, and the samples of one of them.
  const { operations } = await api('operations?service=shop-py');
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto(new URL('/#/service?service=shop-py&tab=operations', url).href);
    await page.waitForSelector('.listing tbody tr');
    assert.equal(await page.locator('.listing tbody tr').count(), operations.length);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `operations are wider than ${width} pixels`);
    await shot(`operations-${width}`);
  }
  const first = operations.find((o) => o.samples > 0);
  await page.click(`.listing button.title:has-text("${first.name}")`);
  const ofOperation = await api(`flame?${new URLSearchParams({ service: 'shop-py', operation: first.name, kind: first.kind, active: 1 })}`);
  await page.selectOption('label:has-text("Thread") select', '');
  await total(ofOperation.total);
  assert.equal(await page.locator('.parts .meta a').count(), first.slowest.length);
  assert.equal(await page.locator('.parts li').count(), [first.database, first.remote, first.own].filter((time) => time > 0).length);
  assert.equal(await page.locator('.causes tbody tr').count(), Math.min(5, ofOperation.causes.length));
  const records = await api(`logs?${new URLSearchParams({ service: 'shop-py', operation: first.name, kind: first.kind, entries: 0 })}`);
  assert.equal(await page.locator('.heading ~ .meta a[href^="#/logs"]').count(), records.count > 0 ? 1 : 0);
  await shot('operation-1440');
  await page.setViewportSize({ width: 390, height: 844 });
  await shot('operation-390');
  await page.setViewportSize({ width: 1280, height: 860 });

  // What comes in shows up by itself.
  await page.goto(new URL('/#/', url).href);
  await page.waitForSelector(`h2:has-text("Profiles ${overview.profile_count}")`);
  await send(new URL(url).searchParams.get('sdk'));
  await page.waitForSelector(`h2:has-text("Profiles ${overview.profile_count + 1}")`);

  // Two profiles compared.
  await page.goto(new URL('/#/', url).href);
  await page.check('.listing [type=checkbox] >> nth=1');
  await page.check('.listing [type=checkbox] >> nth=3');
  await page.click('text=Compare the two');
  await page.waitForSelector('canvas[data-boxes]');
  await shot('compare');

  // The picture of the READMEs, docs/page.png: one request, with its libraries collapsed.
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto(new URL(`/#/profile/${overview.profiles.find((p) => String(p.traces) === 'checkout').id}`, url).href);
  await page.check('text=Collapse libraries');
  await page.waitForSelector('canvas[data-boxes]');
  await shot('page');

  // A narrow window, dark.
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 400, height: 800 });
  for (const [name, hash] of [['overview', '#/'], ['profile', `#/profile/${profile.id}`], ['trace', `#/trace/${trace}?span=${span}`]]) {
    await page.goto(new URL('/' + hash, url).href);
    await page.waitForSelector(name === 'overview' ? '.listing tbody tr' : 'canvas[data-boxes]');
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} is wider than the window`);
    await shot('narrow-' + name);
  }

  // What is built in of speedscope reads our files: as many profiles as there are threads.
  await page.setViewportSize({ width: 1280, height: 860 });
  await page.goto(new URL(`/#/profile/${profile.id}?threads=all`, url).href);
  await total(all.total);
  const href = await page.getAttribute('.downloads a.scope', 'href');
  await page.goto(new URL('/' + href, url).href);
  const file = await api(`download/speedscope?profile=${profile.id}&active=1`);
  await page.waitForSelector(`text=/\\(\\d+\\/${file.profiles.length}\\)/`);
  await shot('speedscope');

  return result;
}

// save downloads the selection in a format.
async function save(page, format) {
  await page.click('.downloads summary');
  await page.click(`.downloads a:text-is("${format}")`);
}

// zooming: a click zooms in, the address and the history know it, and Show all zooms out.
async function zooming(page, all) {
  const second = all.boxes.find((b) => b[2] < all.total);
  const canvas = page.locator('canvas');
  const { width } = await canvas.boundingBox();
  await canvas.click({ position: { x: (width * (second[1] + second[2] / 2)) / all.total, y: 20 * second[0] + 10 } });
  await page.waitForSelector(`canvas[data-left="${second[1]}"][data-right="${second[1] + second[2]}"]`);
  assert.match(page.url(), new RegExp(`zoom=${second[1]}-${second[1] + second[2]}`));
  await page.goBack();
  await page.waitForSelector(`canvas[data-left="0"][data-right="${all.total}"]`);
  await page.goForward();
  await page.waitForSelector(`canvas[data-left="${second[1]}"]`);
  assert.equal(await page.locator('.zoom >> text=Show all').isEnabled(), true);
  await page.reload();
  await page.waitForSelector(`canvas[data-left="${second[1]}"][data-right="${second[1] + second[2]}"]`);
  await page.click('.zoom >> text=Show all');
  await page.waitForSelector(`canvas[data-left="0"][data-right="${all.total}"]`);
  assert.match(await page.title(), / – otelcol-sentry$/);
}

// send is a small profile, as an SDK sends it.
async function send(address) {
  const now = Date.now() / 1000;
  const chunk = JSON.stringify({
    version: '2', platform: 'python', release: 'late@1', profiler_id: 'a'.repeat(32), chunk_id: 'b'.repeat(32),
    profile: {
      frames: [{ function: 'main' }], stacks: [[0]], thread_metadata: { 1: { name: 'main' } },
      samples: [now, now + 0.01].map((timestamp) => ({ timestamp, thread_id: '1', stack_id: 0 })),
    },
  });
  const body = `{}\n{"type":"profile_chunk"}\n${chunk}\n`;
  const answer = await fetch(`http://${address}/api/1/envelope/?sentry_key=${'0'.repeat(32)}`, { method: 'POST', body });
  assert.equal(answer.status, 200);
}
