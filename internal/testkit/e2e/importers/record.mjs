// A scenario of ../browser/drive.mjs for any page.
//
// Returns a .cpuprofile of the page at work, recorded by Chromium's profiler.
export default async function (page) {
  const session = await page.context().newCDPSession(page);
  await session.send('Profiler.enable');
  await session.send('Profiler.start');
  await page.evaluate(() => {
    const fibonacci = (n) => (n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2));
    const order = () => Array.from({ length: 2e5 }, (_, i) => (i * 7919) % 100003).sort((a, b) => a - b);
    for (const end = performance.now() + 500; performance.now() < end;) { fibonacci(22); order(); }
  });
  return (await session.send('Profiler.stop')).profile;
}
