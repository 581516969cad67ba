import flamegraph, { type Chart, type Placed } from 'd3-flame-graph'
import { scaleLinear } from 'd3-scale'
import { select } from 'd3-selection'
import { useEffect, useRef, useState } from 'preact/hooks'
import { fill, type Colouring } from './colours'
import { duration } from './format'
import { useTheme } from './theme'
import type { FlameNode } from './tree'

interface Props {
  root: FlameNode
  describe: (node: FlameNode) => string // a line of text about a node
  colouring: Colouring
  search: string
  selected?: number // number of a frame to outline
  focus?: number // id of the node to zoom to
  onSelect: (node: FlameNode) => void
  onFound?: (share: number) => void // share of the width that the search matches
  time?: { from: number; to: number } // nanoseconds; only of graphs in the order of time
}

const cellHeight = 20

// FlameChart draws a tree with d3-flame-graph and adds keyboard control: arrow keys move, Enter zooms in, Escape zooms out.
export function FlameChart(props: Props) {
  const box = useRef<HTMLDivElement>(null)
  const chart = useRef<Chart<FlameNode> | undefined>(undefined)
  const latest = useRef(props)
  latest.current = props
  const [status, setStatus] = useState('')
  const cursor = useRef<Placed<FlameNode> | undefined>(undefined)
  const dark = useTheme()
  const { root, search, selected, colouring } = props

  const dress = () => {
    select(box.current).selectAll<SVGGElement, Placed<FlameNode>>('g.frame')
      .classed('gap', (d) => d.data.kind === 'gap')
      .classed('selected', (d) => d.data.frame !== undefined && d.data.frame.number === latest.current.selected)
      .classed('cursor', (d) => d === cursor.current)
  }
  const point = (d: Placed<FlameNode> | undefined) => {
    cursor.current = d
    setStatus(d ? latest.current.describe(d.data) : '')
    dress()
  }

  useEffect(() => {
    const element = box.current!
    if (root.value <= 0) return
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches
    const c = flamegraph<FlameNode>()
      .width(element.clientWidth).cellHeight(cellHeight).minFrameSize(0.4).inverted(true).resetHeightOnZoom(true)
      .transitionDuration(still ? 0 : 200)
      .label((d) => latest.current.describe(d.data))
      .color((d) => fill(d.data, d.highlight === true, latest.current.colouring))
      .setSearchMatch((d, term) => d.data.kind === 'call' && matches(d.data, term))
      .setSearchHandler((_, sum, total) => latest.current.onFound?.(sum / total))
      .onClick((d) => {
        if (d.data.kind === 'gap') return c.resetZoom()
        point(d)
        latest.current.onSelect(d.data)
      })
      .onHover((d) => { if (d.data.kind !== 'gap') setStatus(latest.current.describe(d.data)) })
    chart.current = c
    select<HTMLElement, FlameNode>(element).datum(root).call(c)
    cursor.current = undefined
    if (latest.current.search) c.search(latest.current.search)
    const focused = find(placedRoot(element), (n) => n.id === latest.current.focus)
    if (focused?.parent) c.zoomTo(focused)
    dress()
    const resize = new ResizeObserver(() => {
      if (element.clientWidth > 0) { c.width(element.clientWidth).update(); dress() }
    })
    resize.observe(element)
    return () => { resize.disconnect(); c.destroy() }
  }, [root])

  useEffect(() => {
    if (search) chart.current?.search(search)
    else chart.current?.clear()
    dress()
  }, [search])
  useEffect(() => { chart.current?.update(); dress() }, [dark, colouring])
  useEffect(dress, [selected])

  const key = (event: KeyboardEvent) => {
    const d = step(event.key, cursor.current, placedRoot(box.current!))
    if (event.key === 'Enter' && cursor.current) {
      chart.current?.zoomTo(cursor.current) // calls onClick
    } else if (event.key === 'Escape') {
      chart.current?.resetZoom()
    } else if (d) {
      point(d)
    } else {
      return
    }
    event.preventDefault()
  }

  return (
    <div class="flame">
      <div class="chart" tabIndex={0} role="application" aria-label="Flame graph: arrow keys move, Enter zooms in, Escape zooms out"
        onKeyDown={key} onMouseLeave={() => setStatus(cursor.current ? props.describe(cursor.current.data) : '')}>
        {props.time && <Axis {...props.time} />}
        <div ref={box} />
      </div>
      <p class="status" role="status"><bdi>{status || 'Hover over a function to see its weight; click it to zoom in.'}</bdi></p>
    </div>
  )
}

function Axis({ from, to }: { from: number; to: number }) {
  return (
    <div class="axis" aria-hidden="true">
      {scaleLinear().domain([from, to]).ticks(8).map((t) => <span key={t} style={{ left: `${(100 * (t - from)) / (to - from)}%` }}>{duration(t)}</span>)}
    </div>
  )
}

export function matches(node: { name: string; frame?: { file?: string; module?: string } }, term: string): boolean {
  const wanted = term.toLowerCase()
  return [node.name, node.frame?.file, node.frame?.module].some((text) => text?.toLowerCase().includes(wanted))
}

// placedRoot returns the root of the tree as d3-flame-graph laid it out.
function placedRoot(element: HTMLElement): Placed<FlameNode> | undefined {
  return select<HTMLElement, Placed<FlameNode>>(element).datum()
}

function find(from: Placed<FlameNode> | undefined, is: (n: FlameNode) => boolean): Placed<FlameNode> | undefined {
  const open = from ? [from] : []
  for (let d = open.pop(); d; d = open.pop()) {
    if (is(d.data)) return d
    open.push(...(d.children ?? []))
  }
  return undefined
}

// step returns the node that an arrow key moves to.
function step(key: string, from: Placed<FlameNode> | undefined, root: Placed<FlameNode> | undefined): Placed<FlameNode> | undefined {
  if (!from) return key.startsWith('Arrow') ? root : undefined
  const drawn = (list: Placed<FlameNode>[] | undefined) => (list ?? []).filter((d) => d.data.kind !== 'gap' && d.value > 0)
  const siblings = drawn(from.parent?.children)
  switch (key) {
    case 'ArrowDown': return drawn(from.children)[0]
    case 'ArrowUp': return from.parent ?? undefined
    case 'ArrowRight': return siblings[siblings.indexOf(from) + 1]
    case 'ArrowLeft': return siblings[siblings.indexOf(from) - 1]
  }
  return undefined
}
