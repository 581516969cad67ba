// Every profile of the overview, in both orders and at several zoom levels: the pixels show the busy time.
import assert from 'node:assert/strict';
import { drawn } from './pixels.mjs';

const smallestPart = 0.999;

export default async function (page, url) {
  const api = async (path) => (await fetch(new URL('/api/' + path, url))).json();
  const { profiles } = await api('overview');
  const result = { pictures: 0, busy: 0, shown: 0, worst: 1 };
  // Two pages at a time: each mostly waits for details.
  await Promise.all([page, await page.context().newPage()].map(async (page) => {
    await page.emulateMedia({ reducedMotion: 'reduce', colorScheme: 'light' });
    await page.setViewportSize({ width: 1440, height: 5000 });
    for (let profile; (profile = profiles.shift());) await drawProfile(page, url, api, profile, result);
  }));
  return result;
}

async function drawProfile(page, url, api, { id, threads, weight }, result) {
  const open = async (hash, left, right) => {
    const query = left === undefined ? '' : `zoom=${left}-${right}`;
    await page.goto(new URL(`/#${hash}${query}`, url).href);
    await page.waitForSelector(left === undefined ? 'canvas[data-boxes]' : `canvas[data-left="${left}"][data-right="${right}"]`);
    if (left !== undefined) await page.waitForSelector('canvas[data-detail="true"]');
  };
  const check = async (name, expected) => {
    const { width, busy, shown } = await drawn(page);
    const want = (expected ?? 1) * width;
    // A box has at least one pixel: of a handful of boxes, rounding may hide one column.
    assert.ok(busy >= smallestPart * want - 2, `${name}: ${busy} of ${want} columns are busy`);
    assert.ok(shown >= smallestPart * busy - 1, `${name}: ${shown} of ${busy} columns are shown`);
    result.pictures++;
    result.busy += busy;
    result.shown += shown;
    if (busy > 0) result.worst = Math.min(result.worst, shown / busy);
  };
  if (weight <= 0 || threads === 0) return;
  const { total, threads: list } = await api(`flame?profile=${id}&active=1`);
  if (total <= 0) return;
  await open(`/profile/${id}?threads=all&`);
  await page.waitForSelector(`canvas[data-left="0"][data-right="${total}"]`);
  await check(`profile ${id}`);
  for (const [part, at] of [[3, 0], [3, 0.6], [50, 0.4]]) {
    const left = Math.floor(at * total);
    const right = Math.min(total, left + Math.ceil(total / part));
    await open(`/profile/${id}?threads=all&`, left, right);
    await check(`profile ${id} from ${left} to ${right}`);
  }
  const thread = list[0].id;
  const query = `thread=${encodeURIComponent(thread)}`;
  const ordered = await api(`ordered?profile=${id}&${query}&active=1`);
  if (ordered.to <= ordered.from) return; // without times
  await open(`/profile/${id}?order=time&${query}&`);
  await page.waitForSelector(`canvas[data-left="${ordered.from}"][data-right="${ordered.to}"]`);
  await check(`thread ${thread} of profile ${id}`, ordered.total / (ordered.to - ordered.from));
  for (const [part, at] of [[5, 0.3], [100, 0.5]]) {
    const length = ordered.to - ordered.from;
    const left = Math.floor(ordered.from + at * length);
    const right = Math.min(ordered.to, left + Math.ceil(length / part));
    await open(`/profile/${id}?order=time&${query}&`, left, right);
    const { boxes } = await api(`ordered?profile=${id}&${query}&left=${left}&right=${right}&pixels=1440&active=1`);
    const top = boxes.filter((b) => b[0] === 1 && b[3] !== -2);
    const busy = top.reduce((sum, b) => sum + Math.max(0, Math.min(right, b[1] + b[2]) - Math.max(left, b[1])) * (b[4] / Math.max(1, b[2])), 0);
    await check(`thread ${thread} of profile ${id} from ${left} to ${right}`, busy / (right - left));
  }
}
