// Checks of a view that every view must pass: no findings of axe, and no content wider than the window.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const shots = fileURLToPath(new URL('../../../../output/screenshots/', import.meta.url));

// The themes differ only in colors, so the dark one is checked with the rules for these, and with the elements of a wide and of a
// narrow window. The narrowest window has the elements of the narrow one; whatever does not fit is wider than it.
const colors = { runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } };
const windows = [
  { colorScheme: 'light', size: { width: 1440, height: 900 }, rules: {} },
  { colorScheme: 'light', size: { width: 390, height: 844 }, rules: {} },
  { colorScheme: 'light', size: { width: 320, height: 640 } },
  { colorScheme: 'dark', size: { width: 1440, height: 900 }, rules: colors },
  { colorScheme: 'dark', size: { width: 390, height: 844 }, rules: colors },
];

// checkView checks the view at the hash in both themes and in windows of three sizes, and takes a screenshot of each. It
// returns the findings, by view.
export async function checkView(page, url, name, hash, ready) {
  mkdirSync(shots, { recursive: true });
  const findings = [];
  for (const { colorScheme, size, rules } of windows) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.setViewportSize(size);
    await page.goto(new URL('/' + hash, url).href);
    await page.waitForSelector(ready);
    await page.waitForSelector(`:root[data-theme=${colorScheme}]`);
    if (rules) {
      if (await page.evaluate(() => globalThis.axe === undefined)) await page.evaluate(axe);
      const { violations } = await page.evaluate((options) => globalThis.axe.run(options), rules);
      for (const v of violations) {
        for (const node of v.nodes) findings.push(`${name} ${size.width} ${colorScheme}: ${v.id}: ${node.target.join(' ')}: ${node.failureSummary}`);
      }
    }
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} is wider than ${size.width} pixels`);
    const theme = await page.locator('.bar > button.quiet:last-child').boundingBox();
    assert.ok(theme.x >= 0 && theme.x + theme.width <= size.width, `${name}: the theme button is outside of ${size.width} pixels`);
    await page.screenshot({ path: `${shots}${name}-${size.width}${colorScheme === 'dark' ? '-dark' : ''}.png` });
  }
  return findings;
}
