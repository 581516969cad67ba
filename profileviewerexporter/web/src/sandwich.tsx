import { useMemo } from 'preact/hooks'
import { query, type Graph, type Selection } from './api'
import { pictureOf, type Box } from './boxes'
import { FlameChart } from './chart'
import type { Colouring } from './colours'
import { pixels, useDetail } from './detail'
import { share, weight } from './format'
import { useApi } from './hooks'
import { Omitted } from './omitted'
import type { View } from './paint'
import { useView } from './view'

interface Props {
  selection: Selection
  frame: number // the function
  total: number // of the selection
  search: string
  q: URLSearchParams // its zoom is that of the callees, its callers that of the callers
  colouring: Colouring
  describe: (box: Box, graph: Graph) => string
}

// Sandwich shows the callers and the callees of a function.
export function Sandwich(props: Props) {
  return (
    <>
      <Half {...props} view="callers" title="Callers" zoom="callers" />
      <Half {...props} view="callees" title="Callees" zoom="zoom" />
    </>
  )
}

function Half({ selection, frame, total, search, q, colouring, describe, view: kind, title, zoom }: Props & { view: 'callers' | 'callees'; title: string; zoom: string }) {
  const path = 'flame?' + query(selection, { pixels: pixels(), view: kind, function: frame, ...(search && { q: search }) })
  const { value: graph, error } = useApi<Graph>(path)
  const all = useMemo((): View | undefined => graph && { left: 0, right: graph.total }, [graph])
  const picture = useMemo(() => graph && all && pictureOf(graph, all.left, all.right), [graph, all])
  const { view, onView } = useView(q, zoom)
  const detail = useDetail(path, view, all)
  if (error) return <p class="warn" role="alert">{error}</p>
  if (!graph || !picture) return <p class="note">Loading…</p>
  const name = picture.boxes[1]?.name ?? ''
  return (
    <section class="half" data-view={kind} data-total={graph.total}>
      <h2>{title} of <bdi>{name}</bdi> <small>{weight(graph.total, graph.measure)}, {share(graph.total, total)} of the selection</small></h2>
      <Omitted from={graph} />
      {graph.total === 0
        ? <p class="note">The function is not in this selection.</p>
        : <FlameChart whole={picture} detail={detail} view={view} onView={onView} describe={(b) => describe(b, graph)}
          colouring={colouring} selected={frame} onSelect={() => undefined} label={title} />}
    </section>
  )
}
