import { query, type FrameDetail, type Measure, type Selection, type SpanSamples } from './api'
import { EditorLink } from './editor'
import { codeOf, count, place, plural, share, weight } from './format'
import { useApi } from './hooks'
import { Omitted } from './omitted'

// Details describes the selected function, or lists the spans of the profile while no function is selected.
export function Details({ selection, frame, measure, all, spans }: {
  selection: Selection; frame?: number; measure: Measure; all: number; spans?: SpanSamples[] // all: weight of the selection
}) {
  const { value: d, error } = useApi<FrameDetail>(frame === undefined ? undefined : 'frame?' + query(selection, { frame }))
  if (frame === undefined || (!d && !error)) {
    return (
      <section class="details" aria-label="Details">
        {spans && spans.length > 0
          ? <><h2>Spans <small>{spans.length}</small></h2><SpanList spans={spans} measure={measure} total={all} /></>
          : <p class="note">Select a function in the graph or the table to see its lines, attributes and spans.</p>}
      </section>
    )
  }
  if (error || !d) return <section class="details"><p class="warn">{error}</p></section>
  return (
    <section class="details" aria-label="Function details">
      <h2><bdi>{d.name}</bdi></h2>
      <p class="place"><bdi>{place(d.file, d.lines[0]?.line, d.lines[0]?.column)}</bdi> <EditorLink file={d.file} line={d.lines[0]?.line} column={d.lines[0]?.column} /></p>
      <dl>
        <div><dt>Self</dt><dd>{weight(d.self, measure)} <small>{share(d.self, d.of)}</small></dd></div>
        <div><dt>Total</dt><dd>{weight(d.total, measure)} <small>{share(d.total, d.of)}</small></dd></div>
        <div><dt>Samples</dt><dd>{count(d.samples)}</dd></div>
        {d.in_app !== undefined && <div><dt>Code</dt><dd>{codeOf(d)}</dd></div>}
        {d.module && <div><dt>Module</dt><dd><bdi>{d.module}</bdi></dd></div>}
        {d.system && <div><dt>Symbol</dt><dd><bdi>{d.system}</bdi></dd></div>}
      </dl>
      {d.spans.length > 0 && (
        <>
          <h3>Spans</h3>
          <SpanList spans={d.spans} measure={measure} total={d.total} />
          {d.unlinked > 0 && <p class="note">{weight(d.unlinked, measure)} outside spans.</p>}
        </>
      )}
      {d.lines.length > 0 && d.lines.some((l) => l.line || l.address) && (
        <>
          <h3>{plural(d.line_count, 'location')}</h3>
          <table class="lines">
            <thead><tr><th scope="col">Self</th><th scope="col">Total</th><th scope="col">Line</th></tr></thead>
            <tbody>
              {d.lines.map((l, i) => (
                <tr key={i}>
                  <td>{weight(l.self, measure)}</td><td>{weight(l.total, measure)}</td>
                  <td>{place(l.line ? String(l.line) : '', l.column)} {l.address}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
      {d.attributes.length > 0 && (
        <table class="attributes">
          <caption>Attributes</caption>
          <tbody>
            {d.attributes.map((a) => (
              <tr key={a.key}>
                <th scope="row"><bdi>{a.key}</bdi></th>
                <td>{a.values.map((v, i) => <bdi key={i} class="value">{v}</bdi>)}{a.unit && ' ' + a.unit}{a.more && ' …'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Omitted from={d} />
    </section>
  )
}

function SpanList({ spans, measure, total }: { spans: SpanSamples[]; measure: Measure; total: number }) {
  return (
    <ul class="spans">
      {spans.map((s) => (
        <li key={s.trace + s.span}>
          <a href={`#/trace/${s.trace}?span=${s.span}`}><bdi>{s.name || 'span ' + s.span}</bdi></a>
          <small>{weight(s.weight, measure)}, {share(s.weight, total)}</small>
        </li>
      ))}
    </ul>
  )
}
