import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { query, type MergedGraph, type OrderedGraph, type Selection, type SpanSamples, type Thread } from './api'
import { FlameChart } from './chart'
import type { Colouring } from './colours'
import { Details } from './details'
import { count, duration, place, share, weight } from './format'
import { Functions } from './functions'
import { amend, useApi, type Route } from './hooks'
import { Omitted } from './omitted'
import { Strip } from './strip'
import { mergedTree, orderedTree, type FlameNode } from './tree'

interface Props {
  base: Selection // profiles, or a span
  route: Route // of which the query has: thread, order, from, to, q
  threads?: Thread[] // where known, with their activity
  length?: number // nanoseconds
  spans?: SpanSamples[]
}

// GraphView is the flame graph of a selection with everything to change what it shows.
export function GraphView({ base, route, threads, length, spans }: Props) {
  const q = route.query
  const byTime = q.get('order') === 'time'
  const number = (key: string) => (q.has(key) ? Number(q.get(key)) : undefined)
  const [search, setSearch] = useState(q.get('q') ?? '')
  const [colouring, setColouring] = useState<Colouring>('code')
  const [frame, setFrame] = useState<number>()
  const [root, setRoot] = useState(0)
  const [found, setFound] = useState<number>()
  const searchBox = useRef<HTMLInputElement>(null)
  useSlash(searchBox)

  const known = useThreads(base, threads)
  const thread = q.get('thread') ?? (byTime ? known[0]?.id : undefined)
  const selection: Selection = { ...base, thread, from: number('from'), to: number('to') }
  const text = query(selection)
  useEffect(() => { setRoot(0); setFrame(undefined) }, [text])

  const merged = useApi<MergedGraph>('flame?' + text)
  const part = useApi<MergedGraph>(root && !byTime ? 'flame?' + query(selection, { root }) : undefined)
  const ordered = useApi<OrderedGraph>(byTime && thread !== undefined ? 'ordered?' + text : undefined)
  const graph = byTime ? ordered.value : ((root && part.value) || merged.value)
  const tree = useMemo(() => {
    if (!graph) return undefined
    return byTime ? orderedTree(graph as OrderedGraph) : mergedTree(graph as MergedGraph)
  }, [graph])
  const error = merged.error ?? part.error ?? ordered.error
  if (error) return <p class="warn" role="alert">{error}</p>
  const whole = merged.value
  if (!whole || !graph || !tree) return <p class="note">{byTime && thread === undefined ? 'No thread has samples.' : 'Loading…'}</p>

  const describe = (node: FlameNode) => {
    if (node.kind === 'gap') return ''
    const parts = [node.name, `${weight(node.value, whole.measure)}, ${share(node.value, byTime ? tree.value : whole.total)}`]
    if (node.kind === 'call') {
      parts.push(`itself ${weight(node.self, whole.measure)}`)
      if (node.frame?.file) parts.push(place(node.frame.file))
    }
    return parts.join(' · ')
  }
  const select = (node: FlameNode) => {
    setFrame(node.frame?.number)
    if (byTime) {
      const part = node.kind === 'call'
      amend({ from: part ? String(node.start) : undefined, to: part ? String(node.start! + node.value) : undefined })
    } else if (node.kind === 'all') {
      setRoot(0)
    } else if (hides(node)) {
      setRoot(node.id)
    }
  }
  const exact: Selection = { ...selection, profiles: whole.profiles }
  return (
    <>
      <div class="tools" role="toolbar" aria-label="What to show">
        <div class="choice" role="group" aria-label="Order">
          <button type="button" aria-pressed={!byTime} onClick={() => amend({ order: undefined })}>Merged</button>
          <button type="button" aria-pressed={byTime} onClick={() => amend({ order: 'time' })}>By time</button>
        </div>
        <label>Thread{' '}
          <select value={thread ?? ''} onChange={(e) => amend({ thread: e.currentTarget.value })}>
            {!byTime && <option value="">All ({known.length})</option>}
            {known.map((t) => <option key={t.id} value={t.id}>{threadText(t)} – {weight(t.busy, whole.measure)}</option>)}
          </select>
        </label>
        <label class="search">Search{' '}
          <input type="search" ref={searchBox} value={search} placeholder="function, file (/)"
            onInput={(e) => { setSearch(e.currentTarget.value); setFound(undefined) }} onChange={(e) => amend({ q: e.currentTarget.value })} />
        </label>
        {search && found !== undefined && <output class="found">{(100 * found).toFixed(1)} % of what is drawn</output>}
        <label class="check"><input type="checkbox" checked={colouring === 'own'} onChange={(e) => setColouring(e.currentTarget.checked ? 'own' : 'code')} /> Own code only</label>
        <Downloads selection={exact} />
      </div>
      {threads && length !== undefined && length > 0 && activityOf(threads, thread) &&
        <Strip activity={activityOf(threads, thread)!} length={length} from={selection.from} to={selection.to}
          onChange={(from, to) => amend({ from: from?.toString(), to: to?.toString() })} />}
      <p class="sum" data-total={whole.total}>
        <strong>{weight(whole.total, whole.measure)}</strong> in {count(whole.samples)} samples
        {whole.idle > 0 && <>, and {weight(whole.idle, whole.measure)} idle</>}
        {graph.hidden && <>; what is below {weight(graph.smallest, whole.measure)} is not drawn: open a part of the graph to see more</>}
        {byTime && ordered.value && ordered.value.resolution > 1e6 && <>; one sample per {duration(ordered.value.resolution)}</>}
        {whole.cut > 0 && <>; {count(whole.cut)} samples have deeper stacks than are drawn</>}
        <Legend graph={whole} />
      </p>
      <Omitted from={graph} />
      {whole.total === 0
        ? <p class="note">No samples with a stack here.</p>
        : <FlameChart root={tree} describe={describe} colouring={colouring} search={search} selected={frame} focus={root} onSelect={select} onFound={setFound}
          time={byTime && ordered.value ? ordered.value : undefined} />}
      <div class="below">
        <Functions graph={whole} search={search} selected={frame} onSelect={setFrame} />
        <Details selection={exact} frame={frame} measure={whole.measure} total={whole.total} all={whole.total + whole.idle} spans={spans} />
      </div>
    </>
  )
}

// hides tells whether a node has something in it that is not here.
function hides(node: FlameNode): boolean {
  return node.hidden || node.children.some(hides)
}

// useThreads gives the threads of a selection, the busiest first, whichever of them is shown.
function useThreads(base: Selection, threads?: Thread[]): Thread[] {
  const asked = useApi<MergedGraph & { threads?: { id: string; name: string; weight: number }[] }>(threads ? undefined : 'flame?' + query(base))
  return threads ?? (asked.value?.threads ?? []).map((t) => ({ ...t, busy: t.weight, idle: 0, samples: 0 }))
}

function threadText(t: { id: string; name: string }): string {
  if (t.id === '') return 'no thread'
  return t.name && t.name !== t.id ? `${t.name} (${t.id})` : t.id
}

// activityOf is that of a thread, or of all on average.
function activityOf(threads: Thread[], thread: string | undefined): number[] | undefined {
  const lists = threads.filter((t) => thread === undefined || t.id === thread).map((t) => t.activity).filter((a) => a !== undefined)
  return lists[0]?.map((_, i) => lists.reduce((sum, l) => sum + (l[i] ?? 0), 0) / lists.length)
}

// useSlash puts the cursor into the search box, as in many tools.
function useSlash(box: { current: HTMLInputElement | null }): void {
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      if (event.key !== '/' || /^(INPUT|SELECT|TEXTAREA)$/.test((event.target as HTMLElement).tagName)) return
      event.preventDefault()
      box.current?.focus()
    }
    addEventListener('keydown', key)
    return () => removeEventListener('keydown', key)
  }, [])
}

function Legend({ graph }: { graph: MergedGraph }) {
  const kinds = new Set((graph.frames ?? []).map((f) => f.in_app))
  return (
    <span class="legend">
      {kinds.has(true) && <span class="own">own code</span>}
      {kinds.has(false) && <span class="library">libraries</span>}
      {kinds.has(undefined) && <span class="unknown">not known whose</span>}
    </span>
  )
}

function Downloads({ selection }: { selection: Selection }) {
  const q = query(selection)
  const scope = `speedscope/index.html#profileURL=${encodeURIComponent('../api/download/speedscope?' + q)}`
  return (
    <span class="downloads">
      <a class="button" href={scope} target="_blank" rel="noopener">speedscope ↗</a>
      <span>Save{' '}
        <a href={'api/download/pprof?' + q} download>pprof</a>{' '}
        <a href={'api/download/speedscope?' + q} download>speedscope</a>{' '}
        <a href={'api/download/otlp?profile=' + selection.profiles[0]} download title="the whole message">OTLP JSON</a>
      </span>
    </span>
  )
}
