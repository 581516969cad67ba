// The lists of the overview, and the functions of the first profile. The history loads in the background.
export default async function (page, url) {
  const texts = (selector) => page.locator(selector).allInnerTexts();
  page.setDefaultTimeout(60_000);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.waitForFunction(() => document.querySelectorAll('[aria-label="List of profiles"] tbody tr').length > 30
    && document.querySelectorAll('[aria-label="List of traces"] tbody tr').length > 30);
  await page.waitForTimeout(2000); // the rest of it
  const profiles = (await texts('[aria-label="List of profiles"] tbody tr')).sort();
  const traces = (await texts('[aria-label="List of traces"] tbody tr')).sort();
  await page.goto(new URL('/#/?profiles-sort=-samples', url).href);
  await page.waitForSelector('th[aria-sort=descending]:has-text("Samples")');
  await page.waitForTimeout(1000);
  await page.click('[aria-label="List of profiles"] a.title >> nth=0');
  await page.waitForSelector('canvas[data-boxes]');
  return { profiles, traces, functions: await texts('.functions tbody .name bdi'), total: await page.getAttribute('.sum', 'data-total') };
}
