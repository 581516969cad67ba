import { useMemo } from 'preact/hooks'
import type { SpanSamples, Thread } from './api'
import { duration, plural } from './format'
import type { Period } from './markers'

// SpanBar is a span on a timeline.
interface SpanBar { span: SpanSamples; left: number; right: number; row: number } // left and right from 0 to 1

const mostRows = 4 // of spans; further spans that overlap share the last row

// SpanLane shows the spans of a profile over time. The list of spans below the graph has the same links.
export function SpanLane({ spans, period }: { spans: SpanSamples[]; period: Period }) {
  const bars = useMemo(() => barsOf(spans, period), [spans, period.start, period.length])
  if (bars.length === 0) return null
  const rows = Math.max(...bars.map((b) => b.row)) + 1
  return (
    <div class="span-lane" aria-hidden="true" style={{ height: `${rows * 18}px` }}>
      {bars.map((b) => (
        <a key={b.span.trace + b.span.span} tabIndex={-1} href={`#/trace/${b.span.trace}?span=${b.span.span}`}
          title={`${b.span.name || b.span.span}, ${duration(b.span.duration ?? 0)}, ${plural(b.span.samples, 'sample')}`}
          style={{ left: `${100 * b.left}%`, width: `${100 * (b.right - b.left)}%`, top: `${18 * b.row}px` }}><bdi>{b.span.name || b.span.span}</bdi></a>
      ))}
    </div>
  )
}

// barsOf returns the spans with known times in rows, so that few overlap.
function barsOf(spans: SpanSamples[], { start, length }: Period): SpanBar[] {
  const ends: number[] = [] // of the last span of each row
  const bars = spans.filter((s) => s.start !== undefined).map((span) => {
    const left = Number(BigInt(span.start!) - BigInt(start)) / Math.max(1, length)
    return { span, left: Math.max(0, left), right: Math.min(1, left + (span.duration ?? 0) / Math.max(1, length)) }
  }).filter((b) => b.right >= b.left).sort((a, b) => a.left - b.left || b.right - a.right)
  return bars.map((bar) => {
    const free = ends.findIndex((end) => end <= bar.left)
    const row = free >= 0 ? free : Math.min(ends.length, mostRows - 1)
    ends[row] = Math.max(ends[row] ?? 0, bar.right)
    return { ...bar, row }
  })
}

// ThreadLane shows the activity of a thread over time.
export function ThreadLane({ thread, chosen, onChoose }: { thread: Thread; chosen: boolean; onChoose?: () => void }) {
  const name = thread.name && thread.name !== thread.id ? thread.name : thread.id || 'no thread'
  return (
    <div class={'lane' + (chosen ? ' chosen' : '')}>
      <svg viewBox="0 0 1000 100" preserveAspectRatio="none" aria-hidden="true"><path d={outline(thread.activity ?? [])} /></svg>
      {onChoose && <button type="button" tabIndex={-1} aria-hidden="true" title={`Show thread ${name}`} onClick={onChoose}><bdi>{name}</bdi></button>}
    </div>
  )
}

function outline(activity: number[]): string {
  const step = 1000 / Math.max(1, activity.length)
  return `M0,100${activity.map((a, i) => `L${i * step},${100 - a * 100}H${(i + 1) * step}`).join('')}L1000,100Z`
}
