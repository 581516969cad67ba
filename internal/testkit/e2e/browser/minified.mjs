// The page of minified-app.js works for some seconds while it is profiled.
import assert from 'node:assert/strict';

export default async function (page) {
  const sent = page.waitForResponse((r) => r.request().method() === 'POST' && r.request().postData().includes('"profile_chunk"'));
  await page.evaluate(() => profiled(5000));
  assert.equal((await sent).status(), 200);
}
