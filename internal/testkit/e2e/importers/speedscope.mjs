// A scenario of ../browser/drive.mjs for the page of speedscope, with a folder.
//
// Drops each file of a folder on the page, as a user does, and saves it again. Returns the times of the functions in the saved file, by
// name of the dropped one: self is the time of a function at the leaf of a stack, total that anywhere on it.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

export default async function (page, url, folder) {
  let settle;
  page.on('console', (message) => { if (/^import: |^Failed to load/.test(message.text())) settle(message.text()); });
  page.on('dialog', async (dialog) => { settle(dialog.message()); await dialog.dismiss(); });
  await page.evaluate(() => { URL.createObjectURL = (blob) => { globalThis.saved = blob.text(); return 'javascript:;'; }; });

  const results = {};
  for (const file of readdirSync(folder)) {
    const opened = new Promise((resolve) => { settle = resolve; });
    const dataTransfer = await page.evaluateHandle(transfer, { file, base64: readFileSync(join(folder, file), 'base64') });
    await page.dispatchEvent('canvas', 'drop', { dataTransfer });
    const message = await Promise.race([opened, setTimeout(60_000, 'no response', { ref: false })]);
    if (!message.startsWith('import: ')) throw new Error(`${file}: ${message}`);
    await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => setTimeout(resolve)); })); // renders
    await page.keyboard.press('Control+s');
    results[file] = times(JSON.parse(await page.evaluate(() => globalThis.saved)));
  }
  return results;
}

async function transfer({ file, base64 }) {
  const content = await (await fetch(`data:;base64,${base64}`)).blob();
  const all = new DataTransfer();
  all.items.add(new File([content], file));
  return all;
}

function times({ shared, profiles }) {
  const self = Object.create(null), total = Object.create(null); // a function may have the name "constructor"
  for (const { events } of profiles) {
    const open = [];
    let at = 0;
    for (const event of events) {
      if (open.length > 0 && event.at > at) {
        const time = event.at - at;
        self[open.at(-1)] = (self[open.at(-1)] ?? 0) + time;
        for (const name of new Set(open)) total[name] = (total[name] ?? 0) + time;
      }
      at = event.at;
      if (event.type === 'O') open.push(shared.frames[event.frame].name);
      else open.pop();
    }
  }
  return { self, total };
}
