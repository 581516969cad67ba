import type { Graph, MergedGraph, OrderedGraph } from './api'
import { count, duration, weight } from './format'

// Summary states the totals of a selection, and the samples and nodes that its graph leaves out.
export function Summary({ whole, graph, ordered }: { whole: MergedGraph; graph: Graph; ordered?: OrderedGraph }) {
  return (
    <p class="sum" data-total={whole.total}>
      <strong>{weight(whole.total, whole.measure)}</strong> in {count(whole.samples)} samples
      {whole.idle > 0 && <>, plus {weight(whole.idle, whole.measure)} idle</>}
      {graph.hidden && <>; calls below {weight(graph.smallest, whole.measure)} are hidden: click a function to show them</>}
      {ordered && ordered.resolution > 1e6 && <>; one sample per {duration(ordered.resolution)}</>}
      {whole.cut > 0 && <>; the stacks of {count(whole.cut)} samples are truncated</>}
      <Legend graph={whole} />
    </p>
  )
}

function Legend({ graph }: { graph: MergedGraph }) {
  const kinds = new Set((graph.frames ?? []).map((f) => f.in_app))
  return (
    <span class="legend">
      {kinds.has(true) && <span class="own">application</span>}
      {kinds.has(false) && <span class="library">libraries</span>}
      {kinds.has(undefined) && <span class="unknown">unknown</span>}
    </span>
  )
}
