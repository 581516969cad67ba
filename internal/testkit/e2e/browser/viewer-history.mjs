// The lists of the overview, and the functions of the first profile. The query of the URL says how many profiles and traces there
// are: after a restart, the history loads in the background.
export default async function (page, url) {
  const api = async (path) => (await fetch(new URL('/api/' + path, url))).json();
  const rows = (name) => `[aria-label="List of ${name}"] tbody tr`;
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.setViewportSize({ width: 1440, height: 900 });
  const lists = {};
  for (const name of ['profiles', 'traces']) {
    const count = Number(new URL(url).searchParams.get(name));
    await page.waitForFunction(([rows, n]) => document.querySelectorAll(rows).length === n, [rows(name), count]);
    lists[name] = (await page.locator(rows(name)).allInnerTexts()).sort();
  }
  const [first] = (await api('profiles?sort=-samples')).profiles;
  await page.goto(new URL('/#/?profiles-sort=-samples', url).href);
  await page.waitForSelector('th[aria-sort=descending]:has-text("Samples")');
  await page.click(`${rows('profiles')}:first-child a.title[href="#/profile/${first.id}"]`);
  await page.waitForSelector('canvas[data-boxes]');
  return { ...lists, functions: await page.locator('.functions tbody .name bdi').allInnerTexts(), total: await page.getAttribute('.sum', 'data-total') };
}
