// The largest recorded profile: how long it takes until there is something to see, and how long the page does not react.
export default async function (page, url) {
  await page.goto(new URL('/#/', url).href);
  await page.waitForSelector('.card');
  await page.evaluate(() => {
    globalThis.blocked = [];
    new PerformanceObserver((list) => globalThis.blocked.push(...list.getEntries().map((e) => e.duration))).observe({ type: 'longtask' });
  });
  const begin = performance.now();
  await page.click('a[href^="#/profile/"]');
  await page.waitForSelector('g.frame');
  const seen = performance.now() - begin;
  await page.waitForTimeout(1000);
  const afterwards = performance.now();
  await page.click('text=By time');
  await page.waitForSelector('.axis');
  return {
    firstGraph: Math.round(seen),
    byTime: Math.round(performance.now() - afterwards),
    longestBlock: Math.round(await page.evaluate(() => Math.max(0, ...globalThis.blocked))),
    rectangles: await page.locator('g.frame').count(),
  };
}
