// The functions of the first profile.
export default async function (page) {
  await page.click('[aria-label="List of profiles"] tbody tr:first-child a.title[href^="#/profile/"]');
  await page.waitForSelector('canvas[data-boxes]');
  return page.locator('.functions tbody .name bdi').allInnerTexts();
}
