import { brushX, type D3BrushEvent } from 'd3-brush'
import { select } from 'd3-selection'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { duration } from './format'

interface Props {
  activity: number[] // from 0 to 1, in equal steps
  length: number // nanoseconds
  from?: number
  to?: number
  onChange: (from?: number, to?: number) => void
  children?: ComponentChildren // on the timeline
}

const width = 1000
const height = 44

// Strip draws the activity of threads over time. Dragging selects a range, and so do the two numbers.
export function Strip({ activity, length, from, to, onChange, children }: Props) {
  const layer = useRef<SVGGElement>(null)
  const change = useRef(onChange)
  change.current = onChange

  useEffect(() => {
    const group = select<SVGGElement, unknown>(layer.current!)
    const brush = brushX<unknown>().extent([[0, 0], [width, height]]).on('end', (event: D3BrushEvent<unknown>) => {
      if (!event.sourceEvent) return // moved by the page, not by the user
      const range = event.selection as [number, number] | null
      if (range) change.current(...(range.map((x) => Math.round((x / width) * length)) as [number, number]))
      else change.current()
    })
    group.call(brush)
    group.call(brush.move, from === undefined ? null : [(from / length) * width, ((to ?? length) / length) * width])
    return () => { group.on('.brush', null).selectAll('*').remove() }
  }, [length, from, to])

  const step = width / activity.length
  const outline = activity.map((a, i) => `L${i * step},${height - a * height}H${(i + 1) * step}`).join('')
  return (
    <div class="strip">
      <div>
        {children}
        <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label="activity over time; drag to select a range">
          <path d={`M0,${height}${outline}L${width},${height}Z`} />
          <g ref={layer} />
        </svg>
      </div>
      <form class="range" onSubmit={(e) => e.preventDefault()}>
        <Milliseconds label="from" value={from ?? 0} max={length} set={(v) => onChange(v, to)} />
        <Milliseconds label="to" value={to ?? length} max={length} set={(v) => onChange(from ?? 0, v)} />
        <span class="note">of {duration(length)}</span>
        {from !== undefined && <button type="button" onClick={() => onChange()}>Reset range</button>}
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
