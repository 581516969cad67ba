import { useMemo } from 'preact/hooks'
import { query, type Graph, type Selection } from './api'
import { pictureOf, type Box } from './boxes'
import type { Coloring } from './colors'
import { pixels } from './detail'
import { share, weight } from './format'
import { useApi } from './hooks'
import { Omitted } from './omitted'
import { ZoomableChart } from './zoomable'

interface Props {
  selection: Selection
  frame: number // the function
  total: number // of the selection
  search: string
  q: URLSearchParams // its zoom is that of the callees, its callers that of the callers
  coloring: Coloring
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

function Half({ selection, frame, total, search, q, coloring, describe, view: kind, title, zoom }: Props & { view: 'callers' | 'callees'; title: string; zoom: string }) {
  const path = 'flame?' + query(selection, { pixels: pixels(), view: kind, function: frame, ...(search && { q: search }) })
  const { value: graph, error } = useApi<Graph>(path)
  const picture = useMemo(() => graph && pictureOf(graph, 0, graph.total), [graph])
  if (error) return <p class="warn" role="alert">{error}</p>
  if (!graph || !picture) return <p class="note">Loading…</p>
  const name = picture.boxes[1]?.name ?? ''
  return (
    <section class="half" data-view={kind} data-total={graph.total}>
      <h2>{title} of <bdi>{name}</bdi> <small>{weight(graph.total, graph.measure)}, {share(graph.total, total)} of the selection</small></h2>
      <Omitted from={graph} />
      {graph.total === 0
        ? <p class="note">The function is not in this selection.</p>
        : <ZoomableChart path={path} q={q} zoom={zoom} whole={picture} describe={(b) => describe(b, graph)}
          coloring={coloring} selected={frame} onSelect={() => undefined} label={title} />}
    </section>
  )
}
