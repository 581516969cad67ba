import { useMemo } from 'preact/hooks'
import type { LogRecord, SpanDetail, Trace, TraceRows } from './api'
import { AttributeTable } from './attributes'
import { clock, count, duration, plural } from './format'
import { GraphView } from './graph'
import { amend, useApi, useTitle, type Route } from './hooks'
import { LogTable } from './logs'
import type { Moment } from './markers'
import { Omitted } from './omitted'
import { unzoomed } from './order'
import { rowsOf, type SpanRow } from './rows'
import { Waterfall } from './waterfall'

// TraceView shows the spans of a trace, and the attributes, logs and samples of the selected span.
export function TraceView({ id, route }: { id: string; route: Route }) {
  const { value: t, error } = useApi<Trace>(`traces/${id}?spans=0`, 'profiles', 'traces', 'logs')
  const loaded = useApi<TraceRows>(`traces/${id}/rows`, 'profiles', 'traces')
  const rows = useMemo(() => loaded.value && rowsOf(loaded.value), [loaded.value])
  const moments = useMemo(() => (t && loaded.value ? momentsOf(t.log_list, loaded.value.origin) : []), [t, loaded.value])
  useTitle(t && (t.name || 'Trace'), t && clock(t.start))
  if (error ?? loaded.error) return <p class="warn" role="alert">{error ?? loaded.error}</p>
  if (!t || !rows || !loaded.value) return <p class="note">Loading…</p>
  const chosen = rows.find((s) => s.id === route.query.get('span')) ?? rows[0]
  const choose = (span: string) => amend({ span, thread: undefined, order: undefined, from: undefined, to: undefined, ...unzoomed, q: undefined, function: undefined })
  return (
    <>
      <div class="heading">
        <h1><bdi>{t.name || 'Trace'}</bdi></h1>
        <p class="meta">
          <bdi>{t.services.join(', ')}</bdi>
          <time>{clock(t.start)}</time>
          <span>{duration(t.duration)}</span>
          <span>{plural(t.spans, 'span')}</span>
          {t.errors > 0 && <span class="bad">{plural(t.errors, 'error')}</span>}
          <code title="trace id">{t.id}</code>
          <a href={'api/download/otlp?trace=' + t.id} download>Download OTLP JSON</a>
        </p>
      </div>
      <Waterfall rows={rows} length={loaded.value.end} moments={moments} chosen={chosen?.id} choose={choose} q={route.query} />
      {rows.length < t.spans && <p class="note">Showing the first {count(rows.length)} of {count(t.spans)} spans.</p>}
      <Omitted from={loaded.value} />
      {chosen && <ChosenSpan key={chosen.id} trace={t} span={chosen} whole={!route.query.has('span')} route={route} />}
      {!chosen && t.log_list.length > 0 && <><h2>Logs</h2><LogTable records={t.log_list} /></>}
    </>
  )
}

// ChosenSpan describes a span; whole: with the log records of all spans.
function ChosenSpan({ trace, span, whole, route }: { trace: Trace; span: SpanRow; whole: boolean; route: Route }) {
  const records = whole ? trace.log_list : trace.log_list.filter((r) => r.span === span.id)
  const { value: d, error } = useApi<SpanDetail>(`traces/${trace.id}/spans/${span.id}`)
  return (
    <section aria-labelledby="chosen">
      <h2 id="chosen"><bdi>{span.name || span.id}</bdi></h2>
      <p class="meta">
        <bdi>{span.service}</bdi>
        <span>{duration(span.duration)}</span>
        {d && d.kind !== 'Unspecified' && <span>{d.kind.toLowerCase()} span</span>}
        {span.error && <span class="bad">error{d?.status && ': '}<bdi>{d?.status}</bdi></span>}
        {d?.reported !== undefined && <span>called <bdi>{d.reported}</bdi> by the SDK</span>}
        <code title="span id">{span.id}</code>
        {span.samples > 0 && <span class="mark">{plural(span.samples, 'sample')}</span>}
      </p>
      {span.samples > 0
        ? <GraphView base={{ profiles: [], trace: trace.id, span: span.id }} route={route} tall />
        : <p class="note">No samples are linked to this span{trace.profiles > 0 ? '' : ' or to other spans of this trace'}.</p>}
      {error && <p class="warn" role="alert">{error}</p>}
      {d && d.attributes.length + d.events.length > 0 && (
        <details class="about" open={span.samples === 0}>
          <summary>Attributes{d.events.length > 0 && ' and events'}</summary>
          <AttributeTable list={d.attributes} />
          {d.events.map((e, i) => (
            <AttributeTable key={i} caption={`${e.name} after ${duration(e.at)}`} list={e.attributes.length ? e.attributes : [{ key: e.name, value: '' }]} />
          ))}
          {d.events.length < d.event_count && <p class="note">Showing the first {count(d.events.length)} of {count(d.event_count)} events.</p>}
          <Omitted from={d} />
        </details>
      )}
      {records.length > 0 && <><h3>Logs</h3><LogTable records={records} /></>}
    </section>
  )
}


function momentsOf(records: LogRecord[], origin: string): Moment[] {
  return records.map((record) => ({ at: Number(BigInt(record.time) - BigInt(origin)), record }))
}
