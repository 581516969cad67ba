// work measures the main thread of the page while it does something: milliseconds of CPU time, which a busy machine does not
// change much, per frame.
export async function work(page, frames, act) {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const metrics = async () => Object.fromEntries((await session.send('Performance.getMetrics')).metrics.map((m) => [m.name, m.value]));
  const before = await metrics();
  const result = await act();
  const after = await metrics();
  await session.detach();
  const perFrame = (name) => +(1000 * (after[name] - before[name]) / frames).toFixed(2);
  return { ...result, work: { task: perFrame('TaskDuration'), script: perFrame('ScriptDuration'), layout: perFrame('LayoutDuration'), style: perFrame('RecalcStyleDuration') } };
}
