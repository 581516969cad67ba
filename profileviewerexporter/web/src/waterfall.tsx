import { Component } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { serviceColor } from './colors'
import { count, duration, plural } from './format'
import { grouped } from './group'
import { useDelayed } from './hooks'
import { kindOf, type Moment } from './markers'
import type { View } from './paint'
import { visibleRows, withAncestorsOpen, type SpanRow } from './rows'
import { matcher } from './search'
import { Ticks } from './ticks'
import { useView, wheeled, zoomed } from './view'
import { ZoomButtons } from './zoombuttons'

interface Props {
  rows: SpanRow[]
  length: number // of the trace, in nanoseconds
  moments: Moment[] // its log records
  chosen?: string
  choose: (id: string) => void
  q: URLSearchParams // of the address, which has the visible range of time
}

const few = 200 // rows that are all in the document: the browser's own search finds them
const margin = 8 // rows above and below the visible ones
const step = 4 // rows: a shorter movement changes nothing in the document
const deepest = 24 // levels of indentation

// Waterfall shows the spans of a trace over time. Only the visible rows are in the document. Keys: arrows move, left collapses, right
// expands, Enter shows the span, plus and minus zoom, Escape shows all.
export function Waterfall({ rows, length, moments, chosen, choose, q }: Props) {
  const [closed, setClosed] = useState<ReadonlySet<number>>(new Set<number>())
  const [onlyCritical, setOnlyCritical] = useState(false)
  const [search, setSearch] = useState('')
  const [cursor, setCursor] = useState<number>() // index of a row
  const visible = useMemo(() => visibleRows(rows, closed, onlyCritical), [rows, closed, onlyCritical])
  const term = useDelayed(search)
  const hits = useHits(rows, term)
  const found = useMemo(() => new Set(hits), [hits])
  const chosenRow = useMemo(() => rows.find((r) => r.id === chosen)?.index, [rows, chosen])
  const list = useRef<HTMLOListElement>(null)
  const { first, last, height } = useWindow(list, visible.length)
  const all: View = { left: 0, right: Math.max(1, length) }
  const { view = all, onView } = useView(q, 'range')
  useWheel(list, view, all, onView)
  const bySpan = useMemo(() => grouped(moments, (m) => m.record.span ?? ''), [moments])

  const move = (row: SpanRow | undefined, focus: boolean) => {
    if (!row) return
    setCursor(row.index)
    const at = visible.indexOf(row)
    const box = list.current!.parentElement!
    if (at >= 0) {
      const top = at * height
      if (top < box.scrollTop) box.scrollTop = top
      else if (top + 2 * height > box.scrollTop + box.clientHeight) box.scrollTop = top + 2 * height - box.clientHeight
    }
    if (!focus) return
    wanted.current = row.index
    focusWanted()
  }
  const wanted = useRef<number | undefined>(undefined) // the row to focus once it is in the document
  const focusWanted = () => {
    const button = wanted.current === undefined ? null : list.current!.querySelector<HTMLElement>(`[data-row="${wanted.current}"]`)
    if (!button) return
    button.focus({ preventScroll: true })
    wanted.current = undefined
  }
  useLayoutEffect(focusWanted)
  const find = (step: 1 | -1) => {
    const at = hits.findIndex((r) => r.index >= (cursor ?? -1))
    const exact = at >= 0 && hits[at]!.index === cursor
    const next = step > 0 ? (exact ? at + 1 : at < 0 ? 0 : at) : (at < 0 ? hits.length : at) - 1
    const row = hits.at(next % Math.max(1, hits.length))
    if (!row) return
    setOnlyCritical(false)
    setClosed((old) => withAncestorsOpen(rows, old, row.index))
    setCursor(row.index)
    setPending(row.index)
  }
  const [pending, setPending] = useState<number>()
  useEffect(() => { // after the row has become visible
    if (pending === undefined) return
    setPending(undefined)
    move(rows[pending], false)
  }, [pending, visible])
  const [early, setEarly] = useState<1 | -1>() // Enter; the search may still follow
  useEffect(() => {
    if (early === undefined || term !== search) return
    setEarly(undefined)
    find(early)
  }, [early, term, search])
  const toggle = (row: SpanRow, close = !closed.has(row.index)) => setClosed((old) => {
    const next = new Set(old)
    if (close && row.end > row.index + 1) next.add(row.index)
    else next.delete(row.index)
    return next
  })
  const key = (event: KeyboardEvent) => {
    const row = rows[Number((event.target as HTMLElement).dataset.row)]
    if (!row) return
    const at = visible.indexOf(row)
    switch (event.key) {
      case 'ArrowDown': move(visible[at + 1], true); break
      case 'ArrowUp': move(visible[at - 1], true); break
      case 'Home': move(visible[0], true); break
      case 'End': move(visible.at(-1), true); break
      case 'ArrowLeft': if (!closed.has(row.index) && row.end > row.index + 1) toggle(row, true); else move(rows[row.parent], true); break
      case 'ArrowRight': if (closed.has(row.index)) toggle(row, false); else move(visible[at + 1], true); break
      case '+': case '=': onView(zoomed(view, all, 0.5, middle(row))); break
      case '-': onView(zoomed(view, all, 2, middle(row))); break
      case 'Escape': onView(undefined); break
      default: return
    }
    event.preventDefault()
  }
  const click = (event: MouseEvent) => {
    const target = event.target as HTMLElement
    const row = rows[Number(target.closest<HTMLElement>('[data-row]')?.dataset.row)]
    if (!row) return
    if (row.end > row.index + 1 && target.closest('.fold')) toggle(row)
    else choose(row.id)
  }
  const parents = () => new Set(rows.filter((r) => r.end > r.index + 1 && r.depth > 0).map((r) => r.index))
  const at = cursor === undefined ? -1 : hits.findIndex((r) => r.index === cursor)
  const around = rows[cursor ?? chosenRow ?? -1]
  const tabbable = cursor ?? chosenRow ?? visible[first]?.index
  return (
    <>
      <div class="tools" role="toolbar" aria-label="Span controls">
        <label class="search">Search{' '}
          <input type="search" value={search} placeholder="span, service, ID" onInput={(e) => setSearch(e.currentTarget.value)}
            onKeyDown={(e) => { if (e.key === 'Enter') setEarly(e.shiftKey ? -1 : 1) }} />
        </label>
        {search && (
          <span class="hits">
            <button type="button" aria-label="Previous match" disabled={hits.length === 0} onClick={() => find(-1)}>‹</button>
            <button type="button" aria-label="Next match" disabled={hits.length === 0} onClick={() => find(1)}>›</button>
            <output class="found">{at >= 0 && `${count(at + 1)} of `}{plural(hits.length, 'span')}</output>
          </span>
        )}
        <label class="check"><input type="checkbox" checked={onlyCritical} onChange={(e) => setOnlyCritical(e.currentTarget.checked)} /> Only critical path</label>
        <button type="button" onClick={() => setClosed(parents())}>Collapse all</button>
        <button type="button" disabled={closed.size === 0} onClick={() => setClosed(new Set<number>())}>Expand all</button>
        <ZoomButtons view={view} all={all} around={around && middle(around)} onView={onView} />
        <Services rows={rows} />
      </div>
      <div class="waterfall" data-rows={visible.length}>
        <TimeAxis view={view} moments={moments} />
        <ol role="tree" aria-label="Spans" ref={list} onKeyDown={key} onClick={click} style={{ paddingTop: `${first * height}px`, paddingBottom: `${(visible.length - last) * height}px` }}>
          {visible.slice(first, last).map((row) => (
            <Row key={row.index} row={row} left={view.left} right={view.right} moments={bySpan.get(row.id)} chosen={row.id === chosen} found={found.has(row)} current={row.index === cursor}
              closed={closed.has(row.index)} tabbable={row.index === tabbable} />
          ))}
        </ol>
      </div>
    </>
  )
}

interface RowProps {
  row: SpanRow; left: number; right: number; moments?: Moment[]; chosen: boolean; found: boolean; current: boolean; closed: boolean; tabbable: boolean
}

// Row is a span. It renders only when its properties change: a movement renders the rows that become visible.
class Row extends Component<RowProps> {
  shouldComponentUpdate(next: RowProps): boolean {
    return (Object.keys(next) as (keyof RowProps)[]).some((key) => next[key] !== this.props[key])
  }

  render({ row: s, left, right, moments, chosen, found, current, closed, tabbable }: RowProps) {
    const at = (ns: number) => Math.min(100, Math.max(0, (100 * (ns - left)) / (right - left)))
    const [from, to] = [at(s.start), at(s.start + s.duration)]
    const isVisible = s.start <= right && s.start + s.duration >= left
    const below = s.end - s.index - 1
    const classes = { selected: chosen, failed: s.error, critical: s.critical, match: found, current }
    const style = { left: `${from}%`, width: `${to - from}%`, background: `var(--service-${serviceColor(s.service)})` }
    return (
      <li role="none" class={Object.entries(classes).filter(([, on]) => on).map(([name]) => name).join(' ')}>
        <button type="button" role="treeitem" aria-level={s.depth + 1} aria-selected={chosen} aria-expanded={below > 0 ? !closed : undefined} tabIndex={tabbable ? 0 : -1} data-row={s.index}
          title={`${s.name}, ${s.service}${s.critical ? ', on the critical path' : ''}${s.error ? ', error' : ''}`}>
          <span class="what" style={{ paddingInlineStart: `${Math.min(s.depth, deepest) * 0.8}rem` }}>
            <span class="fold" aria-hidden="true">{below > 0 ? (closed ? '▸' : '▾') : ''}</span>
            <bdi>{s.name || s.id}</bdi>
            {closed && below > 0 && <small>{count(below)} hidden</small>}
            {s.error && <span class="bad" aria-label="error">✕</span>}
            {s.samples > 0 && <span class="mark" title="this span has a flame graph">{plural(s.samples, 'sample')}</span>}
          </span>
          <span class="track">
            {isVisible && <span class={'extent' + (s.samples > 0 ? ' sampled' : '')} style={style} />}
            {moments?.map((m, i) => isIn(m, left, right) && <i key={i} class={kindOf([m])} style={{ left: `${at(m.at)}%` }} title={`${m.record.severity}: ${m.record.body}`} />)}
          </span>
          <span class="took">{duration(s.duration)}</span>
        </button>
      </li>
    )
  }
}

const isIn = (m: Moment, left: number, right: number): boolean => m.at >= left && m.at <= right

function TimeAxis({ view: { left, right }, moments }: { view: View; moments: Moment[] }) {
  return (
    <div class="times" aria-hidden="true">
      <span />
      <span class="track">
        <Ticks left={left} right={right} />
        {moments.map((m, i) => isIn(m, left, right) && <i key={i} class={kindOf([m])} style={{ left: `${(100 * (m.at - left)) / (right - left)}%` }} />)}
      </span>
      <span />
    </div>
  )
}

const mostServices = 12

// Services is the legend of the colors.
function Services({ rows }: { rows: SpanRow[] }) {
  const list = useMemo(() => [...grouped(rows, (r) => r.service)].sort((a, b) => b[1].length - a[1].length), [rows])
  return (
    <span class="services">
      {list.slice(0, mostServices).map(([name, spans]) => (
        <span key={name}><i style={{ background: `var(--service-${serviceColor(name)})` }} /><bdi>{name}</bdi> <small>{count(spans.length)}</small></span>
      ))}
      <span class="legend"><span class="path">critical path</span></span>
      {list.length > mostServices && <small>and {count(list.length - mostServices)} more services</small>}
    </span>
  )
}

// useHits returns the rows that a search pattern matches.
function useHits(rows: SpanRow[], pattern: string): SpanRow[] {
  return useMemo(() => {
    if (pattern === '') return []
    const matches = matcher(pattern)
    const known = new Map<string, boolean>() // most spans share a name
    return rows.filter((r) => {
      const key = r.name + '\n' + r.service
      let hit = known.get(key)
      if (hit === undefined) known.set(key, (hit = matches({ name: r.name, file: r.service })))
      return hit || r.id === pattern
    })
  }, [rows, pattern])
}

const middle = (row: SpanRow): number => row.start + row.duration / 2

// useWheel zooms and pans with the wheel.
function useWheel(list: { current: HTMLElement | null }, view: View, all: View, onView: (view: View | undefined, moving: boolean) => void): void {
  const latest = useRef({ view, all, onView })
  latest.current = { view, all, onView }
  useEffect(() => {
    const box = list.current!.parentElement!
    const wheel = (event: WheelEvent) => {
      const { view, all, onView } = latest.current
      const next = wheeled(event, view, all, box.querySelector('.track')!)
      if (next === false) return
      onView(next, true)
      event.preventDefault()
    }
    box.addEventListener('wheel', wheel, { passive: false })
    return () => box.removeEventListener('wheel', wheel)
  }, [])
}

const narrow = matchMedia('(max-width: 860px)')
const rowHeight = () => (narrow.matches ? 46 : 26) // as in style.css

// useWindow returns the rows that are in the document, and the height of a row. It changes in steps of a few rows, so that most
// movements render nothing.
function useWindow(list: { current: HTMLElement | null }, all: number): { first: number; last: number; height: number } {
  const [[first, last, height], setPlace] = useState<[number, number, number]>([0, 2 * few, rowHeight()])
  useLayoutEffect(() => {
    const box = list.current!.parentElement!
    const measure = () => setPlace((old) => {
      const height = rowHeight()
      const top = Math.floor(box.scrollTop / height / step) * step
      const now: typeof old = [top - margin, top + Math.ceil(box.clientHeight / height / step + 1) * step + margin, height]
      return now.every((v, i) => v === old[i]) ? old : now
    })
    measure()
    box.addEventListener('scroll', measure, { passive: true })
    const resize = new ResizeObserver(measure)
    resize.observe(box)
    return () => { box.removeEventListener('scroll', measure); resize.disconnect() }
  }, [])
  if (all <= few) return { first: 0, last: all, height }
  return { first: Math.max(0, Math.min(all - 1, first)), last: Math.max(0, Math.min(all, last)), height }
}
