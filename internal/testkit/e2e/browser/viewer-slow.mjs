// The first view of a service: what takes the time.
import { checkView } from './views.mjs';

export default async function (page, url) {
  const { services } = await (await fetch(new URL('/api/services', url))).json();
  const findings = [];
  const views = {};
  for (const { name } of services) {
    const hash = `#/service?service=${encodeURIComponent(name)}`;
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(new URL('/' + hash, url).href);
    await page.waitForSelector('.causes tbody tr');
    views[name] = await page.locator('.causes tbody tr').allInnerTexts();
    findings.push(...await checkView(page, url, `slow-${name}`, hash, '.causes tbody tr'));
  }
  return { findings, views };
}
