// The merged profiles of a service: the last minutes, compared with the minutes before and with another release.
import assert from 'node:assert/strict';
import { checkView } from './views.mjs';

export default async function (page, url) {
  const api = async (path) => (await fetch(new URL('/api/' + path, url))).json();
  const open = (hash) => page.goto(new URL('/' + hash, url).href);
  await page.setViewportSize({ width: 1440, height: 900 });
  const service = await api('service?service=merged');
  assert.deepEqual(service.releases.map((r) => [r.name, r.profiles]), [['merged@2', 2], ['merged@1', 1]]);
  const findings = await checkView(page, url, 'services', '#/services', '.listing tbody tr');
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.click('.listing a.title:has-text("merged")');

  // All profiles of the window, then of one release.
  const whole = await api('flame?service=merged&active=1');
  assert.equal(whole.profiles.length, 3);
  await page.selectOption('label:has-text("Last") select', '60');
  await page.selectOption('label:has-text("Until") select', service.last);
  await page.selectOption('label:has-text("Thread") select', '');
  await page.waitForSelector(`.sum[data-total="${whole.total}"]`);
  const rows = await page.locator('.functions tbody tr').count();
  assert.equal(rows, whole.top.length);
  await page.selectOption('label:has-text("Release") select', 'merged@2');
  const release = await api('flame?service=merged&release=merged%402&active=1');
  assert.equal(release.profiles.length, 2);
  await page.waitForSelector(`.sum[data-total="${release.total}"]`);
  findings.push(...await checkView(page, url, 'service', `#/service?service=merged&minutes=60&until=${service.last}`, 'canvas[data-boxes]'));

  findings.push(...await checkView(page, url, 'service-operations', '#/service?service=merged&tab=operations', '.note'));

  // Compared with the other release, and with the minute before.
  await page.setViewportSize({ width: 1440, height: 900 });
  await open(`#/service?service=merged&minutes=60&until=${service.last}&release=merged%402`);
  await page.selectOption('label:has-text("Compare with") select', 'release:merged@1');
  const window = `${BigInt(service.last) - 3_600_000_000_000n}/${service.last}`;
  const compared = await api(`compare?service=merged&a=${window}&b=${window}&a_release=merged%401&b_release=merged%402&active=1`);
  await page.waitForSelector(`.sum[data-total="${compared.total}"]`);
  const changed = compared.changes.filter((c) => c.after_self !== c.before_self && !c.self_chance);
  assert.deepEqual(await page.locator('.changed tbody .text button bdi').allTextContents(), changed.map((c) => c.name));
  assert.match(await page.locator('.changed tbody tr').first().innerText(), /^\s*[+−]/);
  await page.click('.changed tbody .text button >> nth=0'); // searches for the function
  await page.waitForFunction((name) => new URLSearchParams(location.hash.split('?')[1]).get('q') === `^${name}$`, changed[0].name);
  findings.push(...await checkView(page, url, 'service-compared', `#/service?service=merged&minutes=60&until=${service.last}&release=merged%402&with=release:merged%401`, '.changed tbody tr'));
  await open(`#/service?service=merged&minutes=1&until=${service.last}&with=before`);
  await page.waitForSelector('.changed tbody tr');
  assert.match(await page.textContent('.sum'), /First \(the 1 minute before\): .* in 60 samples of 1 profile, .* Second \(the last 1 minute\): .* in 120 samples of 2 profiles/);

  // A release compared with all others, and two selections that the user makes.
  await open(`#/service?service=merged&minutes=60&until=${service.last}&with=release:merged@1`);
  await page.waitForSelector('.changed tbody tr');
  assert.match(await page.textContent('.sum'), /First \(merged@1\): .* in 60 samples .* Second \(other releases\): .* in 120 samples/);
  await page.click('a.button:has-text("Compare…")');
  await page.waitForSelector('[role=alert]'); // both sides are equal
  await page.selectOption('.side >> nth=0 >> label:has-text("Release") select', 'merged@1');
  await page.waitForSelector('.changed tbody tr');
  assert.match(await page.textContent('.sum'), /First: .* in 60 samples of 1 profile, .* Second: .* in 120 samples of 2 profiles/);
  await page.click('a.button:has-text("Swap")');
  await page.waitForFunction(() => /First: .* in 120 samples/.test(document.querySelector('.sum')?.textContent ?? ''));
  findings.push(...await checkView(page, url, 'compare-services', '#/compare?a_service=merged&a_release=merged%401&b_service=merged', '.changed tbody tr'));

  // The window moves with new profiles, unless a function is selected.
  await open('#/service?service=merged&minutes=60');
  await page.waitForSelector('canvas[data-boxes]');
  const sdk = new URL(url).searchParams.get('sdk');
  await send(sdk, 'fresh');
  await page.click('.functions .name bdi:text-is("fresh")');
  await page.waitForSelector('.details h2:has-text("fresh")');
  await send(sdk, 'later');
  await page.waitForSelector('button:has-text("Refresh") .mark');
  assert.equal(await page.locator('.functions .name bdi:text-is("later")').count(), 0);
  await page.click('button:has-text("Refresh")');
  await page.waitForSelector('.functions .name bdi:text-is("later")');
  return { findings, changed: changed.map((c) => c.name) };
}

// send sends a profile with one function, which ends now.
async function send(address, name) {
  const now = Date.now() / 1000;
  const chunk = JSON.stringify({
    version: '2', platform: 'python', release: 'merged@3', profiler_id: 'a'.repeat(32), chunk_id: Buffer.from(name.padEnd(16)).toString('hex'),
    profile: { frames: [{ function: name }], stacks: [[0]], samples: [now, now + 0.01].map((timestamp) => ({ timestamp, thread_id: '1', stack_id: 0 })) },
  });
  const response = await fetch(`http://${address}/api/1/envelope/?sentry_key=${'0'.repeat(32)}`, { method: 'POST', body: `{}\n{"type":"profile_chunk"}\n${chunk}\n` });
  assert.equal(response.status, 200);
}
