import { useMemo, useState } from 'preact/hooks'
import { query, type Graph, type MergedGraph, type OrderedGraph, type Selection, type SpanSamples, type Thread } from './api'
import { pictureOf, type Box, type Picture } from './boxes'
import type { Coloring } from './colors'
import { pixels } from './detail'
import { Details } from './details'
import { codeOf, duration, place, plural, share, weight } from './format'
import { Functions } from './functions'
import { actionsOf } from './actions'
import { Causes } from './causes'
import { Changes, changesOf } from './changes'
import { amend, useApi, useSearch, type Route } from './hooks'
import { SpanLane } from './lanes'
import type { List } from './live'
import { Markers, useMoments, type Period } from './markers'
import { Omitted } from './omitted'
import { orderOf, unzoomed, type Order } from './order'
import { Sandwich } from './sandwich'
import { Strip } from './strip'
import { Summary } from './summary'
import { Toolbar } from './toolbar'
import { ZoomableChart } from './zoomable'

interface Props {
  base: Selection // profiles, or a span
  route: Route // its query may have: thread or threads=all, order, from, to, waiting, linked, collapse, raw, zoom, callers, idle, q, function, own
  threads?: Thread[] // with their activity; undefined where it is not known
  spans?: SpanSamples[] // on the timeline
  period?: Period // of the timeline; its log records are marked
  tall?: boolean // the graph may be as high as the window
}

// GraphView is the flame graph of a selection, with the controls that change the selection.
export function GraphView({ base, route, threads, spans, period, tall }: Props) {
  const q = route.query
  const order = orderOf(q)
  const byTime = order === 'time'
  const { text: search, setText: setSearch, settled: term } = useSearch(q)
  const coloring: Coloring = q.has('own') ? 'own' : 'code'
  const frame = numberIn(q, 'function')

  const listed = useThreads(base, threads)
  const allThreads = !byTime && (threads === undefined || q.get('threads') === 'all')
  const thread = q.get('thread') ?? (allThreads ? undefined : listed[0]?.id)
  const selection: Selection = { ...base, thread, from: numberIn(q, 'from'), to: numberIn(q, 'to'), active: q.has('waiting') ? undefined : 1, linked: q.has('linked') ? 1 : undefined, collapse: q.has('collapse') ? 1 : undefined, raw: q.has('raw') ? 1 : undefined, ...changesOf(q) }

  const { whole, graph, picture, path, error } = useGraphs(selection, order, term, q.has('idle'))
  const { moments, all: recorded } = useMoments(period)
  const hits = useMemo(() => (term === '' ? [] : picture?.boxes.filter((b) => b.found) ?? []), [picture, term])
  const [hit, setHit] = useState<Box>()
  if (error) return <p class="warn" role="alert">{error}</p>
  if (!whole || !graph || !picture) return <p class="note">{byTime && thread === undefined ? 'No thread has samples.' : 'Loading…'}</p>

  const exact: Selection = selection.service === undefined ? { ...selection, profiles: whole.profiles } : selection
  const center = frame ?? whole.top?.[0]?.number // of the sandwich
  const at = hit ? hits.indexOf(hit) : -1
  const onHit = (step: 1 | -1) => setHit(hits.at((at < 0 && step < 0 ? -1 : at + step) % Math.max(1, hits.length)))
  const actions = (b: Box, drawn: Picture) => actionsOf(b, drawn, { q, byTime, search: setSearch })
  const found = whole.matched === undefined ? undefined : whole.matched / Math.max(1, whole.total)
  return (
    <>
      {base.service !== undefined && <Causes graph={whole} />}
      <Toolbar selection={exact} order={order} threads={listed} thread={thread} measure={whole.measure} idle={q.has('idle')} waiting={whole.waiting !== undefined ? q.has('waiting') : undefined} linked={isLinked(base, spans ?? whole.spans, q)} collapse={q.has('collapse')} raw={q.has('raw')} symbolicated={whole.symbolicated === true || q.has('raw')}
        search={search} found={found} hit={at < 0 ? undefined : at} hits={hits.length} onHit={onHit} onSearch={setSearch} coloring={coloring} onColoring={(c) => amend({ own: c === 'own' ? '1' : undefined })} />
      {threads && period && period.length > 0 &&
        <Strip threads={threads} chosen={thread} onThread={(id) => amend({ thread: id, threads: undefined, ...unzoomed })} length={period.length} from={selection.from} to={selection.to}
          onChange={(from, to) => amend({ from: from?.toString(), to: to?.toString(), ...unzoomed })}>
          <Markers period={period} moments={moments} all={recorded} />
          {spans && <SpanLane spans={spans} period={period} />}
        </Strip>}
      {!byTime && <Changes q={q} selection={{ ...base, raw: selection.raw, ...(base.profiles.length === 0 && base.service === undefined && { profiles: whole.profiles }) }} />}
      <Summary whole={whole} waiting={selection.active && whole.waiting} picture={picture} ordered={isOrdered(graph) ? graph : undefined} />
      <Omitted from={graph} />
      {(whole.minified ?? 0) > whole.total / 10 && <p class="note">Names are minified: {share(whole.minified ?? 0, whole.total)} of the time is in functions without symbols. <a href={symbolication} target="_blank" rel="noopener">Add symbols ↗</a></p>}
      {whole.total === 0 && !byTime
        ? <p class="note">{selection.active && whole.waiting ? 'All threads wait. Select “Waiting threads” to show where.' : 'This selection has no samples with a stack.'}</p>
        : order === 'sandwich' && center !== undefined
          ? <Sandwich selection={exact} frame={center} total={whole.total} search={term} q={q} coloring={coloring} describe={describe} />
          : <ZoomableChart path={path} q={q} whole={picture} describe={(b) => describe(b, graph)}
            coloring={coloring} selected={frame} onSelect={(b) => amend({ function: b.frame?.number.toString() }, 'replace')} time={byTime} jump={hit} actions={actions} tall={tall}
            moments={byTime ? moments : undefined} />}
      {whole.total > 0 && <div class="below">
        <Functions graph={whole} search={search} selected={order === 'sandwich' ? center : frame}
          onSelect={(f) => amend({ function: f.toString(), ...(order === 'sandwich' && unzoomed) })} />
        <Details selection={exact} frame={order === 'sandwich' ? center : frame} measure={whole.measure} all={whole.total + whole.idle + (selection.active ? whole.waiting ?? 0 : 0)} spans={whole.spans} />
      </div>}
    </>
  )
}

const symbolication = 'https://github.com/otelcol-sentry/otelcol-sentry/blob/main/docs/symbolication.md'

// useGraphs requests the merged graph of a selection and, where it is shown, the graph in another order.
function useGraphs(selection: Selection, order: Order, search: string, idle: boolean) {
  const byTime = order === 'time'
  const text = query(selection, { pixels: pixels(), ...(search && { q: search }) })
  const lists = listsOf(selection)
  const merged = useApi<MergedGraph>('flame?' + text, ...lists)
  const inverted = order === 'inverted'
  const path = byTime ? 'ordered?' + text : `flame?${text}${inverted ? '&view=inverted' : ''}`
  const other = useApi<Graph>((byTime && selection.thread !== undefined) || inverted ? path : undefined, ...lists)
  const graph = byTime || inverted ? other.value : merged.value
  const picture = useMemo(() => {
    if (!graph) return undefined
    if (isOrdered(graph)) return pictureOf(graph, graph.from, graph.to)
    return pictureOf(graph, 0, graph.total + (idle ? graph.idle : 0), idle ? { start: graph.total, extent: graph.idle } : undefined)
  }, [graph, idle])
  return { whole: merged.value, graph, picture, path, error: merged.error ?? other.error }
}

// listsOf returns the lists that change the samples of a selection. Profiles do not change, but more may have samples of a span.
const listsOf = (selection: Selection): List[] => (selection.profiles.length === 0 ? ['profiles'] : [])

// isLinked reports whether only samples with a span are shown; undefined where all have one, or none.
function isLinked(base: Selection, spans: SpanSamples[] | undefined, q: URLSearchParams): boolean | undefined {
  if (q.has('linked')) return true
  return base.span === undefined && base.operation === undefined && spans && spans.length > 0 ? false : undefined
}

// isOrdered: for a moment after a change of the order, there is still the graph of the order before it.
const isOrdered = (graph: Graph): graph is OrderedGraph => 'from' in graph

// useThreads returns the threads of a selection, the busiest first, regardless of which of them is shown.
function useThreads(base: Selection, threads?: Thread[]): Thread[] {
  const loaded = useApi<MergedGraph>(threads ? undefined : 'flame?' + query(base, { pixels: 1 }), ...listsOf(base))
  return threads ?? (loaded.value?.threads ?? []).map((t) => ({ ...t, busy: t.weight, idle: 0, samples: 0 }))
}

function numberIn(q: URLSearchParams, key: string): number | undefined {
  return q.has(key) ? Number(q.get(key)) : undefined
}

// describe returns the line of text about a box. Shares are of the busy time of the displayed graph.
function describe(b: Box, graph: Graph): string {
  const { measure } = graph
  switch (b.kind) {
    case 'idle': return `idle · ${weight(b.extent, measure)}`
    case 'combined': return `${plural(b.count, 'function')}, ${weight(b.weight, measure)} · ${share(b.weight, graph.total)} · ` +
      `the heaviest: ${b.name} · narrower than a pixel; click to zoom in`
    case 'all': return `all · ${weight(graph.total, measure)}${graph.idle > 0 ? ` · idle ${duration(graph.idle)}` : ''}`
  }
  const parts = [b.name, `${weight(b.weight, measure)}, ${share(b.weight, graph.total)}`]
  if (b.self > 0) parts.push(`self ${weight(b.self, measure)}`)
  if (b.frame?.file) parts.push(place(b.frame.file))
  if (b.frame?.in_app !== undefined) parts.push(codeOf(b.frame))
  return parts.join(' · ')
}
