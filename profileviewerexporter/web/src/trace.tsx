import type { Span, SpanDetail, Trace } from './api'
import { AttributeTable } from './attributes'
import { clock, count, duration, plural } from './format'
import { GraphView } from './graph'
import { amend, useApi, useTitle, type Route } from './hooks'
import { LogTable } from './logs'
import { Omitted } from './omitted'
import { unzoomed } from './order'

// TraceView shows the spans of a trace, and the attributes, logs and samples of the selected span.
export function TraceView({ id, route }: { id: string; route: Route }) {
  const { value: t, error } = useApi<Trace>('traces/' + id, 'profiles', 'traces', 'logs')
  useTitle(t && (t.name || 'Trace'), t && clock(t.start))
  if (error) return <p class="warn" role="alert">{error}</p>
  if (!t) return <p class="note">Loading…</p>
  const chosen = t.span_list.find((s) => s.id === route.query.get('span'))
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
      <Waterfall trace={t} chosen={chosen?.id} choose={choose} />
      {t.span_list.length < t.spans && <p class="note">Showing the first {count(t.span_list.length)} of {count(t.spans)} spans.</p>}
      <Omitted from={t} />
      {chosen && <ChosenSpan key={chosen.id} trace={t} span={chosen} route={route} />}
      {!chosen && t.log_list.length > 0 && <><h2>Logs</h2><LogTable records={t.log_list} /></>}
    </>
  )
}

const deepest = 24 // levels of indentation

function Waterfall({ trace, chosen, choose }: { trace: Trace; chosen?: string; choose: (id: string) => void }) {
  const length = Math.max(1, trace.duration)
  const percent = (ns: number) => `${Math.min(100, (100 * ns) / length)}%`
  return (
    <ol class="waterfall" aria-label="Spans">
      {trace.span_list.map((s, i) => (
        <li key={i} class={[s.id === chosen && 'selected', s.error && 'failed'].filter(Boolean).join(' ')}>
          <button type="button" aria-pressed={s.id === chosen} onClick={() => choose(s.id)} title={s.name}>
            <span class="what" style={{ paddingInlineStart: `${Math.min(s.depth, deepest) * 0.8}rem` }}>
              <bdi>{s.name || s.id}</bdi>
              {s.samples > 0 && <span class="mark" title="this span has a flame graph">{plural(s.samples, 'sample')}</span>}
            </span>
            <span class="track">
              <span class={'extent' + (s.samples > 0 ? ' sampled' : '')} style={{ left: percent(s.start), width: percent(s.duration) }} />
            </span>
            <span class="took">{duration(s.duration)}</span>
          </button>
        </li>
      ))}
    </ol>
  )
}

function ChosenSpan({ trace, span, route }: { trace: Trace; span: Span; route: Route }) {
  const records = trace.log_list.filter((r) => r.span === span.id)
  const { value: d, error } = useApi<SpanDetail>(`traces/${trace.id}/spans/${span.id}`)
  return (
    <section aria-labelledby="chosen">
      <h2 id="chosen"><bdi>{span.name || span.id}</bdi></h2>
      <p class="meta">
        <bdi>{span.service}</bdi>
        <span>{duration(span.duration)}</span>
        <span>{span.kind}</span>
        {span.error && <span class="bad">error{span.status && ': '}<bdi>{span.status}</bdi></span>}
        <code title="span id">{span.id}</code>
        {span.samples > 0 && <span class="mark">{plural(span.samples, 'sample')}</span>}
      </p>
      {span.samples > 0
        ? <GraphView base={{ profiles: [], trace: trace.id, span: span.id }} route={route} />
        : <p class="note">No samples are linked to this span{trace.profiles > 0 ? '' : ' or to other spans of this trace'}.</p>}
      {error && <p class="warn" role="alert">{error}</p>}
      {d && (
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

