// node workload.mjs VERSION SCENARIO: what a page of a small shop does, with Sentry's browser SDK in Chromium. SENTRY_DSN says where
// to. The packages are those of internal/testkit/e2e/browser.
import { createRequire } from 'node:module';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

const require = createRequire(new URL('../../browser/', import.meta.url));
const { chromium } = require('playwright-core');
const mode = process.argv[3];

const { outputFiles: [script] } = require('esbuild').buildSync({
  entryPoints: [fileURLToPath(new URL('page.js', import.meta.url))],
  nodePaths: [fileURLToPath(new URL('../../browser/node_modules', import.meta.url))],
  bundle: true, write: false, format: 'iife', keepNames: false,
});
const site = createServer((request, response) => {
  if (request.url === '/page.js') return response.setHeader('Content-Type', 'text/javascript').end(script.text);
  response.setHeader('Document-Policy', 'js-profiling'); // without it browsers do not sample
  response.setHeader('Content-Type', 'text/html');
  response.end('<!doctype html><title>Shop</title><link rel="icon" href="data:,"><script src="/page.js"></script>');
});
await new Promise((done) => site.listen(0, '127.0.0.1', done));

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  // See internal/testkit/e2e/browser/drive.mjs.
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'],
});
try {
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${site.address().port}/`);
  const said = await page.evaluate(([dsn, mode]) => (mode === 'answers' ? answers(dsn) : shop(dsn, mode)), [process.env.SENTRY_DSN, mode]);
  console.log(JSON.stringify(said));
} finally {
  await browser.close();
  site.close();
}
