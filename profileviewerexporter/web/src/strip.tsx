import { brushX, type D3BrushEvent } from 'd3-brush'
import { select } from 'd3-selection'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Thread } from './api'
import { duration } from './format'
import { ThreadLane } from './lanes'
import { Ticks } from './ticks'

interface Props {
  threads: Thread[] // the busiest first
  chosen?: string // ID of the thread that the graph shows; all if undefined
  onThread: (id: string) => void
  length: number // nanoseconds
  from?: number
  to?: number
  onChange: (from?: number, to?: number) => void
  children?: ComponentChildren // on the timeline
}

const width = 1000
const height = 100
const few = 4 // threads

// Strip draws the activity of threads over time. Dragging selects a range, and so do the two numbers. A click selects a thread.
export function Strip({ threads, chosen, onThread, length, from, to, onChange, children }: Props) {
  const [all, setAll] = useState(false)
  const timed = threads.filter((t) => t.activity !== undefined)
  const shown = all ? timed : timed.filter((t, i) => i < few || t.id === chosen)
  const layer = useRef<SVGGElement>(null)
  const latest = useRef({ shown, onThread, onChange, from })
  latest.current = { shown, onThread, onChange, from }

  useEffect(() => {
    const group = select<SVGGElement, unknown>(layer.current!)
    const brush = brushX<unknown>().extent([[0, 0], [width, height]]).on('end', (event: D3BrushEvent<unknown>) => {
      if (!event.sourceEvent) return // moved by the page, not by the user
      const range = event.selection as [number, number] | null
      const { shown, onThread, onChange, from } = latest.current
      if (range) return onChange(...(range.map((x) => Math.round((x / width) * length)) as [number, number]))
      if (from !== undefined) return onChange()
      const box = layer.current!.ownerSVGElement!.getBoundingClientRect()
      const clicked = shown[Math.floor(((event.sourceEvent as MouseEvent).clientY - box.top) / (box.height / shown.length))]
      if (clicked) onThread(clicked.id)
    })
    group.call(brush)
    group.call(brush.move, from === undefined ? null : [(from / length) * width, ((to ?? length) / length) * width])
    return () => { group.on('.brush', null).selectAll('*').remove() }
  }, [length, from, to])

  if (timed.length === 0) return null
  return (
    <div class="strip">
      <div>
        <div class="ticks" aria-hidden="true"><Ticks left={0} right={length} /></div>
        {children}
        <div class={'lanes' + (shown.length === 1 ? ' single' : '')}>
          {shown.map((t) => <ThreadLane key={t.id} thread={t} chosen={t.id === chosen} onChoose={timed.length > 1 ? () => onThread(t.id) : undefined} />)}
          <svg class="range-layer" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img"
            aria-label={`activity of ${shown.length === 1 ? 'a thread' : shown.length + ' threads'} over time; drag to select a range`}><g ref={layer} /></svg>
        </div>
      </div>
      <form class="range" onSubmit={(e) => e.preventDefault()}>
        <Milliseconds label="from" value={from ?? 0} max={length} set={(v) => onChange(v, to)} />
        <Milliseconds label="to" value={to ?? length} max={length} set={(v) => onChange(from ?? 0, v)} />
        <span class="note">of {duration(length)}</span>
        {from !== undefined && <button type="button" onClick={() => onChange()}>Reset range</button>}
        {timed.length > few && <button type="button" aria-expanded={all} onClick={() => setAll(!all)}>{all ? 'Show fewer threads' : `Show all ${timed.length} threads`}</button>}
      </form>
    </div>
  )
}

function Milliseconds({ label, value, max, set }: { label: string; value: number; max: number; set: (v: number) => void }) {
  return (
    <label>{label}{' '}
      <input type="number" min={0} max={Math.ceil(max / 1e6)} step="any" value={+(value / 1e6).toFixed(3)}
        onChange={(e) => set(Math.round(Math.min(max, Math.max(0, e.currentTarget.valueAsNumber * 1e6 || 0))))} /> ms
    </label>
  )
}
