// Errors, log records and metrics: lists that are searched, filtered, sorted and paged; each is held against the API.
import assert from 'node:assert/strict';
import { checkView } from './views.mjs';

export default async function (page, url) {
  const api = async (path) => (await fetch(new URL('/api/' + path, url))).json();
  const open = (hash) => page.goto(new URL('/' + hash, url).href);
  const rows = (n) => page.waitForFunction((n) => document.querySelectorAll('.listing tbody tr, .records > li').length === n, n);
  const findings = [];

  // Errors: groups, then the latest error of a group with its stack, source lines, local variables and breadcrumbs.
  const { groups } = await api('errors');
  await open('#/errors');
  await rows(groups.length);
  findings.push(...await checkView(page, url, 'errors', '#/errors', '.listing tbody tr'));
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.keyboard.press('/');
  await page.keyboard.type('COUPON');
  await rows(groups.filter((g) => /coupon/i.test(g.type + g.message + g.place)).length);
  assert.match(page.url(), /q=COUPON/);
  await page.click('.listing a.title:has-text("ValueError")');
  await page.waitForSelector('.frame .function:text-is("coupon")');
  const group = groups.find((g) => g.type === 'ValueError');
  const { error } = await api(`errors/${group.id}`);
  assert.equal(await page.locator('.message bdi').first().textContent(), error.exceptions[0].message);
  assert.equal(await page.locator('details.frame[open] .attributes tbody tr').count(), error.exceptions[0].frames[0].vars.length);
  assert.equal(await page.locator('[aria-labelledby=breadcrumbs] tbody tr.crumb').count(), error.breadcrumbs.length);
  assert.equal(await page.locator(`.links a[href="#/trace/${error.trace}?span=${error.span}"]`).count(), 1);
  const second = groups.find((g) => g.type === 'RangeError');
  const detail = await api(`errors/${second.id}`);
  await open(`#/error/${second.id}`);
  await page.click('text=Older');
  await page.waitForFunction((key) => location.hash.includes('error=' + key), detail.occurrences[1].key);
  await page.waitForSelector('button:text-is("Newer"):enabled');
  await page.click('text=Show 9 library frames');
  assert.equal(await page.locator('.frames li').count(), 10);
  findings.push(...await checkView(page, url, 'error', `#/error/${group.id}`, '.frame'));

  // From an error to the samples around it.
  const { groups: sampled } = await api('errors?q=around');
  const { error: { samples } } = await api(`errors/${sampled[0].id}`);
  await page.setViewportSize({ width: 1440, height: 900 });
  await open(`#/error/${sampled[0].id}`);
  await page.click('text=View samples around the error');
  const around = await api(`flame?profile=${samples.profile}&active=1&from=${samples.from}&to=${samples.to}${samples.thread ? '&thread=' + samples.thread : ''}`);
  assert.ok(around.total > 0);
  await page.waitForSelector(`.sum[data-total="${around.total}"]`);

  // Logs: pages beyond 200, level, text and order.
  const all = await api('logs?service=paging');
  assert.equal(all.count, 450);
  await open('#/logs?service=paging');
  const seen = new Set();
  for (const expected of [200, 200, 50]) {
    await rows(expected);
    for (const body of await page.locator('.records .body').allTextContents()) seen.add(body);
    if (expected === 200) {
      const first = await page.locator('.records .body').first().textContent();
      await page.click('.pager button:text-is("Next")');
      await page.waitForFunction((old) => document.querySelector('.records .body')?.textContent !== old, first);
    }
  }
  assert.equal(seen.size, 450, 'every record is on one page');
  await page.goBack();
  await rows(200);
  await open('#/logs?service=paging');
  await page.selectOption('label:has-text("Level") select', 'warn');
  await page.waitForSelector(`output:text-is("${(await api('logs?service=paging&level=warn')).count} records")`);
  await page.fill('input[type=search]', 'record 44');
  await page.waitForFunction(() => location.hash.includes('q=record'));
  const found = await api('logs?service=paging&level=warn&q=record+44');
  await rows(found.count);
  assert.ok(found.count > 0 && found.count < 11);
  findings.push(...await checkView(page, url, 'logs-paged', '#/logs?service=paging', '.records li'));

  // What is searched for arrives later.
  await page.setViewportSize({ width: 1440, height: 900 });
  await open('#/logs?q=arrives+later');
  await page.waitForSelector('text=No record matches.');
  await globalThis.fetch(`http://${new URL(url).searchParams.get('sdk')}/api/1/envelope/?sentry_key=${'0'.repeat(32)}`, {
    method: 'POST',
    body: '{}\n{"type":"log","item_count":1,"content_type":"application/vnd.sentry.items.log+json"}\n' +
      `{"items":[{"timestamp":${Date.now() / 1000},"trace_id":"${'1'.repeat(32)}","level":"info","body":"it arrives later"}]}\n`,
  });
  await rows(1);

  // Metrics: a chart per series, sorted and searched.
  const { series } = await api('metrics');
  await open('#/metrics');
  await rows(series.length);
  assert.equal(await page.locator('.listing svg path').count(), series.length);
  await page.click('.listing th button:has-text("Points")');
  const most = (await api('metrics?sort=-points')).series[0];
  await page.waitForFunction((name) => document.querySelector('.listing tbody .title').textContent === name, most.name);
  assert.equal(await page.locator('th[aria-sort=descending]').textContent(), 'Points ▾');
  await page.fill('input[type=search]', 'latency');
  await rows((await api('metrics?q=latency')).count);
  findings.push(...await checkView(page, url, 'metrics', '#/metrics', '.listing tbody tr'));
  return { findings, groups: groups.length, series: series.length };
}
