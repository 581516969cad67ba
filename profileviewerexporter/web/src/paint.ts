import { end, same, type Box, type Picture } from './boxes'
import { dark, fill, light, type Coloring, type Palette } from './colors'

export const rowHeight = 20

// View is the visible range of positions of a graph.
export interface View { left: number; right: number }

// Dress is what a picture looks like apart from its boxes.
export interface Dress {
  dark: boolean
  coloring: Coloring
  selected?: number // number of a frame to outline
  cursor?: Box
  hovered?: Box
}

// Surface is a canvas: its size in CSS pixels, how far its content is scrolled, and the number of device pixels in a CSS pixel.
export interface Surface { context: CanvasRenderingContext2D; width: number; height: number; top: number; ratio: number }

// paint draws the visible part of a picture. Each box has at least one device pixel, and all are painted: their edges are inside.
export function paint(surface: Surface, picture: Picture, view: View, dress: Dress): void {
  const { context: c, ratio } = surface
  const palette = dress.dark ? dark : light
  const scale = (surface.width * ratio) / (view.right - view.left)
  const height = Math.round(rowHeight * ratio)
  const x = (position: number) => Math.round((position - view.left) * scale)
  c.setTransform(1, 0, 0, 1, 0, 0)
  c.fillStyle = palette.sheet
  c.fillRect(0, 0, Math.ceil(surface.width * ratio), Math.ceil(surface.height * ratio))
  setFont(c, `${12 * ratio}px system-ui, sans-serif`)
  c.textBaseline = 'middle'
  c.direction = 'ltr'
  const stripes = striped(c, palette.combined, palette.stripe, ratio)
  const idle = striped(c, palette.idle, palette.idleMark, 2 * ratio)
  const right = surface.width * ratio
  for (const box of picture.boxes) {
    const y = box.depth * height - Math.round(surface.top * ratio)
    if (y + height < 0 || y > surface.height * ratio) continue
    const from = x(box.start)
    const width = Math.max(1, x(end(box)) - from)
    if (from >= right || from + width <= 0) continue
    const visible = Math.max(0, from)
    const w = Math.min(right, from + width) - visible
    c.fillStyle = box.kind === 'combined' ? palette.combined : box.kind === 'idle' ? idle : fill(box, dress.coloring, dress.dark)
    c.fillRect(visible, y, w, height)
    if (box.kind === 'combined') {
      const filled = Math.max(1, Math.round(height * Math.min(1, box.weight / Math.max(1, box.extent))))
      c.fillStyle = box.found ? palette.found : stripes
      c.fillRect(visible, y + height - filled, w, filled)
    }
    c.fillStyle = palette.self
    for (const [a, b] of box.own) c.fillRect(Math.max(visible, x(a)), y + height - 3 * ratio, Math.min(visible + w, Math.max(x(b), x(a) + 1)) - Math.max(visible, x(a)), 2 * ratio)
    c.fillStyle = palette.edge
    if (width > 3 * ratio) c.fillRect(from + width - 1, y, 1, height)
    c.fillRect(visible, y + height - 1, w, 1)
    if (w > 24 * ratio) write(c, box, visible, y, w, height, ratio, palette)
    outline(c, box, dress, palette, visible, y, w, height, ratio)
  }
}

function outline(c: CanvasRenderingContext2D, box: Box, dress: Dress, palette: Palette, x: number, y: number, w: number, h: number, ratio: number): void {
  const chosen = box.kind === 'call' && dress.selected !== undefined && box.frame?.number === dress.selected
  if (!chosen && !same(box, dress.cursor) && !same(box, dress.hovered)) return
  c.strokeStyle = chosen && !same(box, dress.cursor) ? palette.accent : palette.text
  c.lineWidth = (same(box, dress.cursor) || chosen ? 2 : 1) * ratio
  c.strokeRect(x + c.lineWidth / 2, y + c.lineWidth / 2, Math.max(1, w - c.lineWidth), h - c.lineWidth)
}

// write draws the name of a box, on a plain ground where the box is striped.
function write(c: CanvasRenderingContext2D, box: Box, x: number, y: number, w: number, h: number, ratio: number, palette: Palette): void {
  const text = fitting(c, labelOf(box), w - 10 * ratio)
  if (text === '') return
  if (box.kind === 'combined' || box.kind === 'idle') {
    c.fillStyle = box.kind === 'idle' ? palette.idle : palette.combined
    c.fillRect(x + 2 * ratio, y + 2 * ratio, measured(c, text) + 6 * ratio, h - 5 * ratio)
  }
  c.fillStyle = palette.text
  c.fillText(text, x + 5 * ratio, y + h / 2)
}

export const labelOf = (box: Box): string => (box.kind === 'combined' ? `${box.count.toLocaleString('en')} function${box.count === 1 ? '' : 's'}` : box.name)

// fitting returns the beginning of a text that is not wider than the given width.
function fitting(c: CanvasRenderingContext2D, text: string, width: number): string {
  if (measured(c, text) <= width) return text
  let [fits, tooLong] = [0, text.length]
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1
    if (measured(c, text.slice(0, middle) + '…') <= width) fits = middle
    else tooLong = middle
  }
  return fits > 0 ? text.slice(0, fits) + '…' : ''
}

const widths = new Map<string, number>() // of texts in the last font
const mostWidths = 20_000
let font = ''

function setFont(c: CanvasRenderingContext2D, name: string): void {
  if (font !== name) widths.clear()
  c.font = font = name
}

function measured(c: CanvasRenderingContext2D, text: string): number {
  let width = widths.get(text)
  if (width === undefined) {
    if (widths.size > mostWidths) widths.clear()
    widths.set(text, (width = c.measureText(text).width))
  }
  return width
}

const patterns = new Map<string, CanvasPattern>()

// striped returns a pattern of diagonal lines.
function striped(c: CanvasRenderingContext2D, ground: string, line: string, ratio: number): CanvasPattern | string {
  const key = ground + line + ratio
  const known = patterns.get(key)
  if (known) return known
  const size = Math.max(4, Math.round(6 * ratio))
  const tile = document.createElement('canvas')
  tile.width = tile.height = size
  const t = tile.getContext('2d')!
  t.fillStyle = ground
  t.fillRect(0, 0, size, size)
  t.fillStyle = line
  for (let i = 0; i < size; i++) t.fillRect(size - 1 - i, i, Math.max(1, Math.round(ratio / 2)), 1)
  const pattern = c.createPattern(tile, 'repeat')
  if (pattern) patterns.set(key, pattern)
  return pattern ?? line
}

// boxAt returns the box at a point of a canvas.
export function boxAt(surface: Pick<Surface, 'width' | 'top'>, picture: Picture, view: View, x: number, y: number): Box | undefined {
  const depth = Math.floor((y + surface.top) / rowHeight)
  const pixel = (view.right - view.left) / surface.width
  const position = view.left + x * pixel
  let nearest: Box | undefined
  for (const box of picture.boxes) {
    if (box.depth !== depth || box.start > position || Math.max(end(box), box.start + pixel) <= position) continue
    nearest = box
  }
  return nearest
}
