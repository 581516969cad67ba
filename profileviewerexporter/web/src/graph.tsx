import { useEffect, useMemo, useState } from 'preact/hooks'
import { query, type MergedGraph, type OrderedGraph, type Selection, type SpanSamples, type Thread } from './api'
import { FlameChart } from './chart'
import type { Colouring } from './colours'
import { Details } from './details'
import { place, share, weight } from './format'
import { Functions } from './functions'
import { amend, useApi, type Route } from './hooks'
import { Omitted } from './omitted'
import { Strip } from './strip'
import { Summary } from './summary'
import { Toolbar } from './toolbar'
import { mergedTree, orderedTree, type FlameNode } from './tree'

interface Props {
  base: Selection // profiles, or a span
  route: Route // its query may have: thread, order, from, to, q
  threads?: Thread[] // with their activity; undefined where it is not known
  length?: number // nanoseconds
  spans?: SpanSamples[]
}

// GraphView is the flame graph of a selection, with the controls that change the selection.
export function GraphView({ base, route, threads, length, spans }: Props) {
  const q = route.query
  const byTime = q.get('order') === 'time'
  const [search, setSearch] = useState(q.get('q') ?? '')
  const [colouring, setColouring] = useState<Colouring>('code')
  const [frame, setFrame] = useState<number>()
  const [root, setRoot] = useState(0)
  const [found, setFound] = useState<number>()

  const listed = useThreads(base, threads)
  const thread = q.get('thread') ?? (byTime ? listed[0]?.id : undefined)
  const selection: Selection = { ...base, thread, from: numberIn(q, 'from'), to: numberIn(q, 'to') }
  useEffect(() => { setRoot(0); setFrame(undefined) }, [query(selection)])

  const { whole, graph, tree, ordered, error } = useGraphs(selection, byTime, root)
  if (error) return <p class="warn" role="alert">{error}</p>
  if (!whole || !graph || !tree) return <p class="note">{byTime && thread === undefined ? 'No thread has samples.' : 'Loading…'}</p>

  const select = (node: FlameNode) => {
    setFrame(node.frame?.number)
    if (byTime) amend(timeRange(node))
    else if (node.kind === 'all') setRoot(0)
    else if (hides(node)) setRoot(node.id)
  }
  const exact: Selection = { ...selection, profiles: whole.profiles }
  const activity = threads && activityOf(threads, thread)
  return (
    <>
      <Toolbar selection={exact} byTime={byTime} threads={listed} thread={thread} measure={whole.measure}
        search={search} found={found} onSearch={(text) => { setSearch(text); setFound(undefined) }}
        colouring={colouring} onColouring={setColouring} />
      {activity && length !== undefined && length > 0 &&
        <Strip activity={activity} length={length} from={selection.from} to={selection.to}
          onChange={(from, to) => amend({ from: from?.toString(), to: to?.toString() })} />}
      <Summary whole={whole} graph={graph} ordered={ordered} />
      <Omitted from={graph} />
      {whole.total === 0
        ? <p class="note">This selection has no samples with a stack.</p>
        : <FlameChart root={tree} describe={(node) => describe(node, whole, byTime ? tree.value : whole.total)} colouring={colouring} search={search}
          selected={frame} focus={root} onSelect={select} onFound={setFound} time={ordered} />}
      <div class="below">
        <Functions graph={whole} search={search} selected={frame} onSelect={setFrame} />
        <Details selection={exact} frame={frame} measure={whole.measure} total={whole.total} all={whole.total + whole.idle} spans={spans} />
      </div>
    </>
  )
}

// useGraphs requests the merged graph of a selection and, where another one is shown, that one: a part of the merged graph, or the
// graph in the order of time.
function useGraphs(selection: Selection, byTime: boolean, root: number) {
  const text = query(selection)
  const merged = useApi<MergedGraph>('flame?' + text)
  const part = useApi<MergedGraph>(root && !byTime ? 'flame?' + query(selection, { root }) : undefined)
  const inOrder = useApi<OrderedGraph>(byTime && selection.thread !== undefined ? 'ordered?' + text : undefined)
  const graph = byTime ? inOrder.value : ((root && part.value) || merged.value)
  const tree = useMemo(() => {
    if (!graph) return undefined
    return byTime ? orderedTree(graph as OrderedGraph) : mergedTree(graph as MergedGraph)
  }, [graph])
  return {
    whole: merged.value, graph, tree, ordered: byTime ? inOrder.value : undefined,
    error: merged.error ?? part.error ?? inOrder.error,
  }
}

// useThreads returns the threads of a selection, the busiest first, regardless of which of them is shown.
function useThreads(base: Selection, threads?: Thread[]): Thread[] {
  const loaded = useApi<MergedGraph & { threads?: { id: string; name: string; weight: number }[] }>(threads ? undefined : 'flame?' + query(base))
  return threads ?? (loaded.value?.threads ?? []).map((t) => ({ ...t, busy: t.weight, idle: 0, samples: 0 }))
}

function numberIn(q: URLSearchParams, key: string): number | undefined {
  return q.has(key) ? Number(q.get(key)) : undefined
}

// describe returns the line of text about a node; total is what its share is of.
function describe(node: FlameNode, whole: MergedGraph, total: number): string {
  if (node.kind === 'gap') return ''
  const parts = [node.name, `${weight(node.value, whole.measure)}, ${share(node.value, total)}`]
  if (node.kind === 'call') {
    parts.push(`self ${weight(node.self, whole.measure)}`)
    if (node.frame?.file) parts.push(place(node.frame.file))
  }
  return parts.join(' · ')
}

// timeRange returns the range of a call in the order of time, for the query of the address; the root has no range.
function timeRange(node: FlameNode): { from?: string; to?: string } {
  if (node.kind !== 'call') return { from: undefined, to: undefined }
  return { from: String(node.start), to: String(node.start! + node.value) }
}

// hides reports whether the graph leaves out descendants of a node.
function hides(node: FlameNode): boolean {
  return node.hidden || node.children.some(hides)
}

// activityOf returns the activity of one thread, or the average of all threads.
function activityOf(threads: Thread[], thread: string | undefined): number[] | undefined {
  const lists = threads.filter((t) => thread === undefined || t.id === thread).map((t) => t.activity).filter((a) => a !== undefined)
  return lists[0]?.map((_, i) => lists.reduce((sum, l) => sum + (l[i] ?? 0), 0) / lists.length)
}
