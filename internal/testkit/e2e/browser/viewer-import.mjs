// Files dropped on the page: one of each format. The query of the URL names the folder of the files.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { checkView } from './views.mjs';

export default async function (page, url) {
  const folder = new URL(url).searchParams.get('files');
  const names = readdirSync(folder).sort();
  await page.waitForSelector('.import button');
  const imported = {};
  for (const name of names.slice(1)) {
    const row = page.locator('.imported', { has: page.locator(`bdi:text-is("${name}")`) });
    await drop(page, name, readFileSync(join(folder, name)));
    await row.waitFor();
    imported[name] = await row.innerText();
  }
  // The first one with the button.
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.click('text=Import files…')]);
  await chooser.setFiles(join(folder, names[0]));
  const first = page.locator('.imported', { has: page.locator(`bdi:text-is("${names[0]}")`) });
  await first.waitFor();
  imported[names[0]] = await first.innerText();
  await page.waitForSelector('h2:has-text("Profiles")');

  await drop(page, 'broken.bin', Buffer.from([0, 1]));
  await page.waitForSelector('.imported .bad');
  await page.reload();
  await page.waitForSelector('h2:has-text("Profiles")');
  const overview = await (await fetch(new URL('/api/overview', url))).json();
  await page.waitForFunction((n) => document.querySelectorAll('a[href^="#/profile/"]').length === n, overview.profiles.length);
  const findings = await checkView(page, url, 'import', '#/', '.import button');
  return { imported, findings, services: overview.services.map((s) => s.name) };
}

// drop drops a file on the page, as a browser does.
async function drop(page, name, content) {
  const transfer = await page.evaluateHandle(([name, bytes]) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([new Uint8Array(bytes)], name));
    return transfer;
  }, [name, [...content]]);
  await page.dispatchEvent('main', 'dragover', { dataTransfer: transfer });
  await page.waitForSelector('.dropping', { state: 'attached' });
  await page.dispatchEvent('main', 'drop', { dataTransfer: transfer });
  await page.waitForSelector('.dropping', { state: 'detached' });
}
