import type { Drawing, Frame } from './api'

// Box is a rectangle of a graph. combined: adjacent functions that are narrower than a pixel, in one box.
export interface Box {
  kind: 'all' | 'call' | 'idle' | 'combined'
  name: string
  frame?: Frame // of combined functions the heaviest
  depth: number
  start: number
  extent: number
  weight: number
  self: number
  count: number // of combined functions
  found: boolean
  delta: number
  parent: number // index; -1 for the root
  own: [from: number, to: number][] // where the function itself was running
  shade?: { key: string; color: string } // its last color: frames paint the same boxes
}

// Picture is the part of a graph that one response describes.
export interface Picture {
  boxes: Box[]
  rows: number
  left: number
  right: number
}

// The columns of a row of a drawing; see drawing.go.
const enum Column { Depth, Start, Extent, Frame, Weight, Self, Combined, Found, Delta }

const rootFrame = -1
const idleFrame = -2

// pictureOf reads a drawing of the window from left to right. It may add the idle time at the end of the graph.
export function pictureOf(drawing: Drawing, left: number, right: number, idle?: { start: number; extent: number }): Picture {
  const frames = drawing.frames ?? []
  const boxes = drawing.boxes.map((row) => boxOf(row, frames[row[Column.Frame]!]))
  if (idle && idle.extent > 0) boxes.push({ ...blank, ...idle, kind: 'idle', name: 'idle', depth: 1, own: [] })
  connect(boxes)
  return { boxes, rows: boxes.reduce((most, b) => Math.max(most, b.depth + 1), 1), left, right }
}

const blank = { weight: 0, self: 0, count: 0, found: false, delta: 0, parent: 0 } as const

function boxOf(row: readonly number[], frame: Frame | undefined): Box {
  const count = row[Column.Combined]!
  const kind = row[Column.Frame] === rootFrame ? 'all' : row[Column.Frame] === idleFrame ? 'idle' : count > 0 ? 'combined' : 'call'
  const box: Box = {
    kind, count, depth: row[Column.Depth]!, start: row[Column.Start]!, extent: row[Column.Extent]!, weight: row[Column.Weight]!,
    self: row[Column.Self]!, found: row[Column.Found] === 1, delta: row[Column.Delta] ?? 0, parent: -1, own: [],
    name: kind === 'all' ? 'all' : kind === 'idle' ? 'idle' : frame?.name ?? '',
  }
  if (frame) box.frame = frame
  return box
}

// connect sets the parents and the own parts of boxes, which are in depth-first order.
function connect(boxes: Box[]): void {
  const running: number[] = []
  const covered: number[] = [] // end of the children so far, by depth
  const close = (depth: number) => {
    while (running.length > depth) {
      const box = boxes[running.pop()!]!
      const from = covered.pop()!
      if (box.kind === 'call' && box.self > 0 && box.start + box.extent > from) box.own.push([from, box.start + box.extent])
    }
  }
  boxes.forEach((box, i) => {
    close(box.depth)
    box.own = []
    box.parent = running[box.depth - 1] ?? -1
    const parent = boxes[box.parent]
    if (parent) {
      const from = covered[box.depth - 1]!
      if (parent.kind === 'call' && parent.self > 0 && box.start > from) parent.own.push([from, box.start])
      covered[box.depth - 1] = Math.max(from, box.start + box.extent)
    }
    running.push(i)
    covered.push(box.start)
  })
  close(0)
}

export const end = (box: Box): number => box.start + box.extent

// same reports whether two boxes, perhaps of different pictures, are the same call.
export const same = (a: Box | undefined, b: Box | undefined): boolean =>
  a !== undefined && b !== undefined && a.depth === b.depth && a.start === b.start && a.kind === b.kind

// neighbour returns the box that an arrow key moves to.
export function neighbour(key: string, from: Box | undefined, picture: Picture): Box | undefined {
  const { boxes } = picture
  const at = boxes.findIndex((b) => same(b, from))
  if (at < 0) return key.startsWith('Arrow') ? boxes[0] : undefined
  const siblings = boxes.filter((b) => b.parent === boxes[at]!.parent)
  const index = siblings.indexOf(boxes[at]!)
  switch (key) {
    case 'ArrowDown': return boxes.find((b) => b.parent === at)
    case 'ArrowUp': return boxes[boxes[at]!.parent]
    case 'ArrowRight': return siblings[index + 1]
    case 'ArrowLeft': return siblings[index - 1]
  }
  return undefined
}
