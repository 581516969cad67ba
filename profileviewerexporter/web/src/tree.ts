import type { Comparison, Frame, MergedGraph, OrderedGraph } from './api'

// FlameNode is a rectangle of a graph, with the field names that d3-flame-graph expects: value is its width, children are the calls in it.
export interface FlameNode {
  id: number
  name: string
  value: number
  self: number
  kind: 'all' | 'call' | 'gap' // a gap is a pause; it is not drawn
  frame?: Frame
  start?: number // nanoseconds after the origin
  delta?: number // of comparisons: after minus before
  hidden: boolean // some of its children are left out
  children: FlameNode[]
}

const everything = 'all'

export function mergedTree(graph: MergedGraph): FlameNode {
  const frames = graph.frames ?? []
  const list = graph.nodes.map(([id, , frame, value, self, hidden]): FlameNode => ({
    id, value, self, hidden: hidden === 1, children: [], ...named(frames[frame]),
  }))
  attach(list, graph.nodes)
  let root = list[0]!
  for (const [id, frame] of [...graph.ancestors].reverse()) {
    root = { id, value: root.value, self: 0, hidden: true, children: [root], ...named(frames[frame]) }
  }
  if (root.kind === 'all') return root
  return { id: 0, name: everything, kind: 'all', value: root.value, self: 0, hidden: true, children: [root] }
}

// orderedTree inserts gaps for the pauses between calls, so that each call is drawn at its time.
export function orderedTree(graph: OrderedGraph): FlameNode {
  const frames = graph.frames ?? []
  const list = graph.nodes.map(([id, , frame, start, value, hidden]): FlameNode => ({
    id, value, self: value, start, hidden: hidden === 1, children: [], ...named(frames[frame]),
  }))
  list[0]!.start = graph.from
  list[0]!.value = graph.to - graph.from
  attach(list, graph.nodes)
  for (const node of list) {
    let at = node.start!
    const filled: FlameNode[] = []
    for (const child of node.children) {
      if (child.start! > at) filled.push(gap(child.start! - at))
      filled.push(child)
      node.self -= child.value
      // Not the sum of the drawn children: siblings that are too small may be left out.
      at = Math.max(at, child.start! + child.value)
    }
    node.children = filled
  }
  list[0]!.self = 0
  return list[0]!
}

export function comparedTree(graph: Comparison): FlameNode {
  const frames = graph.frames ?? []
  const list = graph.nodes.map(([id, , frame, value, delta, hidden]): FlameNode => ({
    id, value, self: 0, delta, hidden: hidden === 1, children: [], ...named(frames[frame]),
  }))
  attach(list, graph.nodes)
  return list[0]!
}

function gap(value: number): FlameNode {
  return { id: -1, name: '', kind: 'gap', value, self: 0, hidden: false, children: [] }
}

function named(frame: Frame | undefined): Pick<FlameNode, 'name' | 'kind'> & { frame?: Frame } {
  return frame ? { name: frame.name, kind: 'call', frame } : { name: everything, kind: 'all' }
}

function attach(list: FlameNode[], rows: readonly (readonly number[])[]): void {
  rows.forEach((row, i) => {
    if (i > 0) list[row[1]!]!.children.push(list[i]!)
  })
}
