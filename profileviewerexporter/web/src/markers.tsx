import type { LogRecord, Logs } from './api'
import { clock, count, duration, plural } from './format'
import { grouped } from './group'
import { useApi } from './hooks'
import { level } from './logs'

// Moment is a log record or an error on a timeline.
export interface Moment { at: number; record: LogRecord } // at: nanoseconds after the origin

// Period is a range of time of a service.
export interface Period { service?: string; start: string; length: number }

// useMoments returns the latest log records of a period, at most a page of them.
export function useMoments(period: Period | undefined): { moments: Moment[]; all: number } {
  const q = period && new URLSearchParams({
    ...(period.service !== undefined && { service: period.service }), after: period.start, until: String(BigInt(period.start) + BigInt(Math.ceil(period.length))),
  })
  const { value } = useApi<Logs>(q && 'logs?' + q, 'logs')
  if (!period || !value) return { moments: [], all: 0 }
  const origin = BigInt(period.start)
  return { moments: value.records.map((record) => ({ at: Number(BigInt(record.time) - origin), record })), all: value.count }
}

const places = 24 // on a timeline: each is wide enough for a finger

// Markers shows log records and errors on a timeline; neighbours share a marker.
export function Markers({ period, moments, all }: { period: Period; moments: Moment[]; all: number }) {
  if (moments.length === 0) return null
  const step = period.length / places
  const groups = grouped(moments, (m) => Math.max(0, Math.min(places - 1, Math.floor(m.at / step))))
  return (
    <div class="markers" role="group" aria-label="Log records">
      {[...groups].map(([place, list]) => (
        <a key={place} class={kindOf(list)} style={{ left: `${(100 * place) / places}%`, width: `${100 / places}%` }} href={logsOf(period, place * step, (place + 1) * step)}
          title={textOf(list)} aria-label={textOf(list)}><span style={{ left: `${100 * (mean(list) / step - place)}%` }}>{list.length > 1 ? count(list.length) : ''}</span></a>
      ))}
      {moments.length < all && <span class="hidden">The latest {count(moments.length)} of {count(all)} log records are marked.</span>}
    </div>
  )
}

const mean = (list: Moment[]): number => list.reduce((sum, m) => sum + m.at, 0) / list.length

export const kindOf = (list: Moment[]): string =>
  list.some(({ record: r }) => r.error || level(r.severity) === 'bad') ? 'bad' : list.some(({ record: r }) => level(r.severity) !== '') ? 'middling' : 'plain'

function textOf(list: Moment[]): string {
  const [latest] = list
  const text = `${latest!.record.severity}: ${latest!.record.body || '(empty)'} after ${duration(latest!.at)}, ${clock(latest!.record.time)}`
  return list.length > 1 ? `${plural(list.length, 'log record')}, the latest ${text}` : text
}

// logsOf is the list of the log records between two offsets.
function logsOf(period: Period, from: number, to: number): string {
  const time = (offset: number) => String(BigInt(period.start) + BigInt(Math.floor(offset)))
  return '#/logs?' + new URLSearchParams({ ...(period.service !== undefined && { service: period.service }), after: time(from), until: time(to) })
}
