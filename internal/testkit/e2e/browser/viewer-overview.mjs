// The overview and the list of services: tables that are searched, filtered, sorted and paged; each is held against the API. Then a
// profile: its threads over time with the spans above them, and a selection saved as OTLP.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { checkView } from './views.mjs';

export default async function (page, url) {
  const api = async (path) => (await fetch(new URL('/api/' + path, url))).json();
  const open = (hash) => page.goto(new URL('/' + hash, url).href);
  const table = (label) => page.locator(`[aria-label="${label}"]`);
  const links = async (label) => table(label).locator('a.title').evaluateAll((list) => list.map((a) => a.hash.replace(/^#\/\w+[/?]/, '')));
  const shows = async (label, wanted) => {
    await page.waitForFunction(([label, wanted]) => {
      const list = [...document.querySelectorAll(`[aria-label="${label}"] a.title`)].map((a) => a.hash.replace(/^#\/\w+[/?]/, ''));
      return list.length === wanted.length && list.every((id, i) => id === wanted[i]);
    }, [label, wanted]);
    assert.deepEqual(await links(label), wanted);
  };
  const ids = (list) => list.map((entry) => entry.id);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.setViewportSize({ width: 1440, height: 900 });

  // Pages beyond 200 entries: each list has its own.
  const { trace_count: traces, profile_count: profiles } = await api('overview');
  assert.ok(traces > 200 && profiles > 200, `${traces} traces, ${profiles} profiles`);
  await open('#/');
  await shows('List of traces', ids((await api('traces?sort=-start')).traces));
  await page.click('[aria-labelledby=traces] .pager button:text-is("Next")');
  await shows('List of traces', ids((await api('traces?sort=-start&offset=200')).traces));
  await shows('List of profiles', ids((await api('profiles?sort=-start')).profiles));
  await page.click('[aria-labelledby=profiles] .pager button:text-is("Next")');
  await shows('List of profiles', ids((await api('profiles?sort=-start&offset=200')).profiles));


  // Every column that sorts, the first one in both directions; a sort shows the first page.
  const columns = { profiles: ['name', 'duration', 'samples', 'threads', 'spans', 'start'], traces: ['name', 'duration', 'spans', 'errors', 'logs', 'profiles', 'start'] };
  for (const [list, keys] of Object.entries(columns)) {
    const header = page.locator(`[aria-labelledby=${list}] thead button`);
    assert.equal(await header.count(), keys.length);
    for (const [i, key] of keys.entries()) {
      for (let turn = 0; turn < (i === 0 ? 2 : 1); turn++) {
        await header.nth(i).click();
        await page.waitForFunction(([list, key]) => new URLSearchParams(location.hash.split('?')[1]).get(list + '-sort')?.replace('-', '') === key, [list, key]);
        const sort = new URLSearchParams(new URL(page.url()).hash.split('?')[1]).get(list + '-sort');
        await shows('List of ' + list, ids((await api(`${list}?sort=${sort}`))[list]));
      }
    }
  }


  // Search and filter, for both lists; the address has them.
  await open('#/');
  await page.fill('input[type=search]', 'GET /7');
  await shows('List of traces', ids((await api('traces?sort=-start&q=GET+/7')).traces));
  await shows('List of profiles', ids((await api('profiles?sort=-start&q=GET+/7')).profiles));
  assert.match(page.url(), /q=GET/);
  await page.fill('input[type=search]', '');
  await page.selectOption('label:has-text("Service") select', 'worker-3');
  await shows('List of traces', ids((await api('traces?sort=-start&service=worker-3')).traces));
  await page.reload();
  await shows('List of profiles', ids((await api('profiles?sort=-start&service=worker-3')).profiles));
  const findings = await checkView(page, url, 'overview-sorted', '#/?traces-sort=-duration&service=worker-3', '.listing tbody tr');


  // Services.
  await page.setViewportSize({ width: 1440, height: 900 });
  await open('#/services');
  const named = async (query) => (await api('services?' + query)).services.map((s) => 'service=' + encodeURIComponent(s.name));
  await page.waitForSelector('.listing tbody tr');
  await shows('Services', await named(''));
  for (const [title, key] of [['Profiles', 'profiles'], ['Traces', 'traces'], ['Errors', 'errors'], ['Logs', 'logs'], ['Received', 'arrived']]) {
    await page.click(`.listing th button:text-is("${title}")`);
    await shows('Services', await named('sort=-' + key));
  }
  await page.fill('input[type=search]', 'WORKER-1');
  await page.waitForFunction(() => location.hash.includes('q=WORKER'));
  await shows('Services', await named('q=WORKER-1&sort=-arrived'));


  // Threads over time, with the spans above them.
  const timeline = (await api('profiles?service=timeline')).profiles[0];
  const detail = await api(`profiles/${timeline.id}`);
  await open(`#/profile/${timeline.id}`);
  await page.waitForSelector('.lane');
  assert.equal(await page.locator('.lane').count(), 4);
  await page.click('text=Show all 6 threads');
  assert.equal(await page.locator('.lane').count(), detail.thread_list.length);
  assert.deepEqual(await page.locator('.lane button').allTextContents(), detail.thread_list.map((t) => t.name || t.id));
  const spans = detail.span_list.filter((s) => s.start);
  assert.equal(spans.length, 2);
  assert.deepEqual((await page.locator('.span-lane a').allTextContents()).sort(), spans.map((s) => s.name).sort());
  const lane = await page.locator('.lanes').boundingBox();
  for (const s of spans) {
    const bar = await page.locator(`.span-lane a:has-text("${s.name}")`).boundingBox();
    const left = lane.x + (lane.width * Number(BigInt(s.start) - BigInt(detail.start))) / detail.duration;
    assert.ok(Math.abs(bar.x - left) < 3 && Math.abs(bar.width - (lane.width * s.duration) / detail.duration) < 3, s.name);
  }
  const third = detail.thread_list[2];
  await page.click(`.lane button:has-text("${third.name || third.id}")`);
  const one = await api(`flame?profile=${timeline.id}&thread=${third.id}&active=1`);
  await page.waitForSelector(`.sum[data-total="${one.total}"]`);
  await page.mouse.click(lane.x + lane.width / 2, lane.y + 5); // the first lane
  await page.waitForFunction((id) => location.hash.includes('thread=' + id), detail.thread_list[0].id);


  // The selection saved as OTLP: the samples that the page shows, and no others.
  await page.click(`.lane button:has-text("${third.name || third.id}")`);
  await page.waitForSelector(`.sum[data-total="${one.total}"]`);
  await page.click('.downloads summary');
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('.downloads a:has-text("OTLP")')]);
  const saved = JSON.parse(readFileSync(await download.path(), 'utf8'));
  const [resource] = saved.resourceProfiles;
  const observations = resource.scopeProfiles[0].profiles[0].samples.reduce((n, s) => n + s.timestampsUnixNano.length, 0);
  assert.equal(saved.resourceProfiles.length, 1);
  assert.equal(observations, one.samples);
  findings.push(...await checkView(page, url, 'threads', `#/profile/${timeline.id}`, '.lane'));
  return { findings, traces, profiles, observations };
}
