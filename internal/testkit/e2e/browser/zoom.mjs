// zoom turns the wheel 30 steps in and out again, and returns the times between frames.
export async function zoom(page) {
  const canvas = await page.locator('canvas').boundingBox();
  await page.mouse.move(canvas.x + canvas.width * 0.3, canvas.y + 100);
  await page.evaluate(() => {
    globalThis.frames = [];
    globalThis.counting = true;
    let last = performance.now();
    const next = () => {
      const now = performance.now();
      globalThis.frames.push(now - last);
      last = now;
      if (globalThis.counting) requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
  await page.keyboard.down('Control');
  for (let i = 0; i < 60; i++) {
    await page.mouse.wheel(0, i < 30 ? -40 : 40);
    await page.waitForTimeout(16);
  }
  await page.keyboard.up('Control');
  const frames = await page.evaluate(() => { globalThis.counting = false; return globalThis.frames.sort((a, b) => a - b); });
  const at = (list, part) => +(list[Math.min(list.length - 1, Math.floor(list.length * part))] ?? 0).toFixed(1);
  return { frames: frames.length, median: at(frames, 0.5), worst: at(frames, 1) };
}
