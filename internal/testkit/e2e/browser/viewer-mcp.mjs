// The functions that the page shows for some spans, the hottest first.
export default async function (page, url) {
  const api = async (path) => (await fetch(new URL('/api/' + path, url))).json();
  const spans = [];
  const { traces } = await api('traces?sort=-profiles');
  for (const trace of traces.filter((t) => t.profiles > 0)) {
    const span = (await api(`traces/${trace.id}`)).span_list.filter((s) => s.samples > 0).sort((a, b) => b.samples - a.samples)[0];
    const { total } = await api(`flame?trace=${trace.id}&span=${span.id}`);
    if (total === 0) continue; // it was idle
    await page.goto(new URL(`/#/trace/${trace.id}?span=${span.id}`, url).href);
    await page.waitForSelector(`code[title="span id"]:text-is("${span.id}")`);
    await page.waitForSelector(`.sum[data-total="${total}"]`);
    const top = await page.locator('.functions tbody tr').evaluateAll((list) => list.map((tr) => ({
      name: tr.querySelector('.name bdi').textContent, self: tr.cells[0].innerText, total: tr.cells[1].innerText,
    })));
    spans.push({ trace: trace.id, span: span.id, name: span.name, top });
    if (spans.length === 5) break;
  }
  return spans;
}
