// The first minute: the page without data shows how to send some, and then why it was rejected. The query of the URL says where the
// collector listens for SDKs.
import assert from 'node:assert/strict';
import { checkView } from './views.mjs';

export default async function (page, url) {
  const sdk = new URL(url).searchParams.get('sdk');
  const port = sdk.split(':')[1];
  await page.waitForSelector('.code pre');
  for (const name of ['Python', 'Node.js', 'Browser', 'Java', 'Go']) {
    await page.click(`.choice button:text-is("${name}")`);
    const text = await page.textContent('.code pre');
    assert.match(text, new RegExp(`http://0123456789abcdef0123456789abcdef@localhost:${port}/1`), name);
    assert.match(text, /shop(-web)?@1\.0/, name);
  }
  assert.match(await page.textContent('.welcome'), /SENTRY_SPOTLIGHT=/);
  const findings = await checkView(page, url, 'empty', '#/', '.code pre');

  const envelope = (key, item) => fetch(`http://${sdk}/api/1/envelope/?sentry_key=${key}`, { method: 'POST', body: `{}\n${item}\n` });
  assert.equal((await envelope('not a key', '{"type":"event"}\n{}')).status, 400);
  assert.equal((await envelope('a'.repeat(32), '{"type":"profile_chunk"}\n{"version":"3"}')).status, 200);
  await page.waitForSelector('.badge:text-is("2")');
  await page.waitForSelector('text=Some data was rejected');
  findings.push(...await checkView(page, url, 'problems', '#/problems', '.grid tbody tr >> nth=1'));
  const rows = await page.locator('.grid tbody tr').allInnerTexts();
  return { findings, rows };
}
