import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { end, neighbour, type Box, type Picture } from './boxes'
import type { Coloring } from './colors'
import { kindOf, type Moment } from './markers'
import { keepInside, Menu, type MenuItem, type Place } from './menu'
import { Outline } from './outline'
import { boxAt, paint, rowHeight, type Surface, type View } from './paint'
import { useTheme } from './theme'
import { Ticks } from './ticks'
import { moved, useAnimated, wheeled, zoomed } from './view'
import { ZoomButtons } from './zoombuttons'

export interface ChartProps {
  whole: Picture // all of the graph
  detail?: Picture // a part of it, in more detail
  view?: View // the visible part; all of it if undefined
  onView: (view: View | undefined, moving?: boolean) => void
  describe: (box: Box) => string // a line of text about a box
  coloring: Coloring
  selected?: number // number of a frame to outline
  onSelect: (box: Box) => void
  time?: boolean // positions are nanoseconds
  label?: string // of the graph, if a page has several
  jump?: Box // the box to show
  actions?: (box: Box, picture: Picture) => MenuItem[]
  moments?: Moment[] // on the axis
  tall?: boolean // it may be as high as the window
}

const nearby = 4 // pixels: a shorter drag is a click

// FlameChart draws a graph on a canvas. Keys: arrows move, Enter zooms in, Escape zooms out, plus and minus zoom, M opens the menu.
export function FlameChart(props: ChartProps) {
  const { whole, coloring, selected } = props
  const box = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const isDark = useTheme()
  const [cursor, setCursor] = useState<Box>()
  const [hovered, setHovered] = useState<Box>()
  const [pointer, setPointer] = useState<Place>({ x: 0, y: 0 })
  const [menu, setMenu] = useState<{ box: Box; at: Place }>()
  const [size, setSize] = useState({ width: 0, height: 0, top: 0 })
  const all: View = { left: whole.left, right: whole.right }
  const view = useAnimated(props.view ?? all, whole)
  const picture = covers(props.detail, view) ? props.detail! : whole

  const measure = () => {
    const e = box.current!
    setSize((old) => (old.width === e.clientWidth && old.height === e.clientHeight && old.top === e.scrollTop ? old
      : { width: e.clientWidth, height: e.clientHeight, top: e.scrollTop }))
  }
  useLayoutEffect(() => {
    measure()
    const resize = new ResizeObserver(measure)
    resize.observe(box.current!)
    return () => resize.disconnect()
  }, [])
  useLayoutEffect(measure, [picture.rows])
  useLayoutEffect(() => {
    const surface = surfaceOf(canvas.current!, size)
    if (surface) paint(surface, picture, view, { dark: isDark, coloring, selected, cursor, hovered })
  })

  const point = (b: Box | undefined) => {
    setCursor(b)
    if (b) reveal(box.current!, b)
  }
  const choose = (b: Box) => {
    point(b)
    if (b.kind === 'call') props.onSelect(b)
    if (b.kind === 'all') props.onView(undefined)
    else if (b.extent > 0) props.onView(fit({ left: b.start, right: end(b) }, all))
  }
  useEffect(() => {
    if (!props.jump) return
    point(props.jump)
    const near = showing(props.jump, view, all, size.width)
    if (near !== view) props.onView(fit(near, all))
  }, [props.jump])
  const open = (b: Box | undefined, at: Place) => { if (b && props.actions) setMenu({ box: b, at }) }
  const closeMenu = () => { setMenu(undefined); box.current?.focus({ preventScroll: true }) }
  const key = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const to = neighbour(event.key, cursor, picture)
    if (event.key === 'Enter' && cursor) choose(cursor)
    else if (event.key === 'Escape') props.onView(undefined)
    else if (event.key === '+' || event.key === '=') props.onView(zoomed(view, all, 0.5, cursor ? (cursor.start + end(cursor)) / 2 : undefined))
    else if (event.key === '-') props.onView(zoomed(view, all, 2))
    else if (event.key === 'm' || event.key === 'ContextMenu') open(cursor, placeOf(canvas.current!, cursor, view, size.top))
    else if (to) point(to)
    else return
    event.preventDefault()
  }
  usePointer(canvas, { ...props, all, view, picture, top: size.top, choose, open, hover: (b, at) => { setHovered(b); if (at) setPointer(at) } })

  const described = hovered ?? cursor
  return (
    <div class={'flame' + (props.tall ? ' tall' : '')}>
      <div class="chart" ref={box} tabIndex={0} role="application" onScroll={measure} onKeyDown={key}
        aria-label={`${props.label ?? 'Flame graph'}: arrow keys move, Enter zooms in, Escape shows all, plus and minus zoom`}>
        {props.time && <Axis {...view} moments={props.moments} />}
        <div class="rows" style={{ height: `${picture.rows * rowHeight}px` }}>
          <canvas ref={canvas} role="img" data-left={view.left} data-right={view.right} data-boxes={picture.boxes.length} data-detail={picture !== whole}
            aria-label={`${picture.boxes.length} boxes; the table below has their functions`}
            style={{ width: `${size.width}px`, height: `${canvasHeight(size, picture)}px` }} />
        </div>
      </div>
      <div class="under">
        <p class="status" role="status"><bdi>{described ? props.describe(described) : 'Point at a function to see its weight; click it to zoom in.'}</bdi></p>
        <ZoomButtons view={view} all={all} onView={props.onView} />
      </div>
      {hovered && !menu && <Tip text={props.describe(hovered)} at={pointer} />}
      {menu && <Menu label={menu.box.name} items={props.actions!(menu.box, picture)} at={menu.at} onClose={closeMenu} />}
      <Outline picture={picture} view={view} describe={props.describe} />
    </div>
  )
}

const axisHeight = 22

// canvasHeight is the height of the visible part of the rows.
function canvasHeight(size: { height: number }, picture: Picture): number {
  return Math.max(1, Math.min(size.height, picture.rows * rowHeight))
}

function surfaceOf(canvas: HTMLCanvasElement, size: { width: number; top: number }): Surface | undefined {
  const ratio = devicePixelRatio || 1
  const height = parseFloat(canvas.style.height)
  if (size.width <= 0 || !(height > 0)) return undefined
  const [width, tall] = [Math.round(size.width * ratio), Math.round(height * ratio)]
  if (canvas.width !== width) canvas.width = width
  if (canvas.height !== tall) canvas.height = tall
  const context = canvas.getContext('2d', { alpha: false })
  return context ? { context, width: size.width, height, top: size.top, ratio } : undefined
}

// covers reports whether a picture contains the whole view.
function covers(picture: Picture | undefined, view: View): boolean {
  return picture !== undefined && picture.left <= view.left && picture.right >= view.right
}

// fit returns the view inside the bounds of the graph; undefined is all of it.
function fit(view: View, all: View): View | undefined {
  const inside = { left: Math.max(all.left, view.left), right: Math.min(all.right, view.right) }
  return inside.left <= all.left && inside.right >= all.right ? undefined : inside
}

// reveal scrolls to a row.
function reveal(element: HTMLElement, b: Box): void {
  const top = b.depth * rowHeight
  if (top < element.scrollTop) element.scrollTop = top
  else if (top + rowHeight + axisHeight > element.scrollTop + element.clientHeight) element.scrollTop = top + rowHeight + axisHeight - element.clientHeight
}

interface Pointing extends ChartProps {
  all: View
  view: View
  picture: Picture
  top: number
  hover: (b: Box | undefined, at?: Place) => void
  choose: (b: Box) => void
  open: (b: Box | undefined, at: Place) => void
}

// usePointer handles the mouse, touch and the wheel: a click chooses, a drag moves the view, Ctrl and the wheel zoom.
function usePointer(canvas: { current: HTMLCanvasElement | null }, state: Pointing): void {
  const latest = useRef(state)
  latest.current = state
  useEffect(() => {
    const element = canvas.current!
    let drag: { x: number; view: View; moved: boolean } | undefined
    const at = (event: MouseEvent) => {
      const { picture, view, top } = latest.current
      return boxAt({ width: element.clientWidth, top }, picture, view, event.offsetX, event.offsetY)
    }
    const down = (event: PointerEvent) => { if (event.button === 0) drag = { x: event.clientX, view: latest.current.view, moved: false } }
    const move = (event: PointerEvent) => {
      if (!drag) {
        const found = at(event)
        return latest.current.hover(found, { x: event.clientX, y: event.clientY })
      }
      if (Math.abs(event.clientX - drag.x) < nearby && !drag.moved) return
      if (!drag.moved) element.setPointerCapture(event.pointerId)
      drag.moved = true
      const shift = ((drag.x - event.clientX) / element.clientWidth) * (drag.view.right - drag.view.left)
      latest.current.onView(moved(drag.view, latest.current.all, shift), true)
    }
    const up = (event: PointerEvent) => {
      const clicked = drag && !drag.moved ? at(event) : undefined
      drag = undefined
      if (clicked) latest.current.choose(clicked)
    }
    const leave = () => latest.current.hover(undefined)
    const wheel = (event: WheelEvent) => {
      const { view, all, onView } = latest.current
      const next = wheeled(event, view, all, element)
      if (next === false) return
      onView(next, true)
      event.preventDefault()
    }
    const cancel = () => { drag = undefined }
    const menu = (event: MouseEvent) => {
      const found = at(event)
      if (!found) return
      event.preventDefault()
      latest.current.open(found, { x: event.clientX, y: event.clientY })
    }
    element.addEventListener('contextmenu', menu)
    element.addEventListener('pointerdown', down)
    element.addEventListener('pointermove', move)
    element.addEventListener('pointerup', up)
    element.addEventListener('pointercancel', cancel)
    element.addEventListener('pointerleave', leave)
    element.addEventListener('wheel', wheel, { passive: false })
    return () => {
      element.removeEventListener('contextmenu', menu)
      element.removeEventListener('pointerdown', down)
      element.removeEventListener('pointermove', move)
      element.removeEventListener('pointerup', up)
      element.removeEventListener('pointercancel', cancel)
      element.removeEventListener('pointerleave', leave)
      element.removeEventListener('wheel', wheel)
    }
  }, [])
}

// Tip is the description of a box next to the pointer. The status line has the same text.
function Tip({ text, at }: { text: string; at: Place }) {
  const element = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => keepInside(element.current!, at, 14), [text, at])
  return <div class="tip" aria-hidden="true" ref={element}>{text.split(' · ').map((line, i) => <div key={i}><bdi>{line}</bdi></div>)}</div>
}

// showing returns a view that shows a box wide enough to read.
function showing(b: Box, view: View, all: View, width: number): View {
  const length = view.right - view.left
  const readable = (b.extent / length) * width >= 40
  if (readable && b.start >= view.left && end(b) <= view.right) return view
  const wanted = readable ? length : Math.max(1, b.extent * Math.max(1, width / 200))
  const middle = b.start + b.extent / 2
  const left = Math.max(all.left, middle - wanted / 2)
  return { left, right: Math.min(all.right, left + wanted) }
}

// placeOf returns the point of the window where a box begins.
function placeOf(canvas: HTMLCanvasElement, b: Box | undefined, view: View, top: number): Place {
  const area = canvas.getBoundingClientRect()
  const x = b ? ((b.start - view.left) / (view.right - view.left)) * area.width : 0
  return { x: area.left + Math.max(0, Math.min(area.width, x)), y: area.top + ((b?.depth ?? 0) + 1) * rowHeight - top }
}

function Axis({ left, right, moments = [] }: View & { moments?: Moment[] }) {
  const place = (at: number) => `${(100 * (at - left)) / (right - left)}%`
  return (
    <div class="axis" aria-hidden="true">
      {moments.filter((m) => m.at >= left && m.at <= right).map((m, i) => <i key={i} class={kindOf([m])} style={{ left: place(m.at) }} title={`${m.record.severity}: ${m.record.body}`} />)}
      <Ticks left={left} right={right} />
    </div>
  )
}
