import type { TraceRows } from './api'

// SpanRow is a row of a trace.
export interface SpanRow {
  index: number
  id: string
  depth: number
  start: number
  duration: number
  name: string
  service: string
  error: boolean
  critical: boolean
  samples: number
  weight: number
  end: number // index of the row after the last one below this row
  parent: number // index; -1 for roots
}

// The columns of a row, and its flags; see internal/waterfall/rows.go.
const enum Column { Depth, Start, Duration, Name, Service, Flags, Samples, Weight }
const enum Flag { Error = 1, Critical = 2 }

// rowsOf reads the rows of a trace.
export function rowsOf({ rows, names, ids }: TraceRows): SpanRow[] {
  const open: SpanRow[] = []
  const list = rows.map((row, index): SpanRow => {
    const depth = row[Column.Depth]!
    while (open.length > depth) open.pop()!.end = index
    const flags = row[Column.Flags]!
    const span: SpanRow = {
      index, depth, id: ids.slice(16 * index, 16 * index + 16), start: row[Column.Start]!, duration: row[Column.Duration]!,
      name: names[row[Column.Name]!] ?? '', service: names[row[Column.Service]!] ?? '', error: (flags & Flag.Error) !== 0,
      critical: (flags & Flag.Critical) !== 0, samples: row[Column.Samples]!, weight: row[Column.Weight]!, end: index + 1, parent: open.at(-1)?.index ?? -1,
    }
    open.push(span)
    return span
  })
  while (open.length > 0) open.pop()!.end = list.length
  return list
}

// visibleRows returns the rows that are not below a collapsed one.
export function visibleRows(rows: SpanRow[], closed: ReadonlySet<number>, onlyCritical: boolean): SpanRow[] {
  const list: SpanRow[] = []
  for (let i = 0; i < rows.length;) {
    const row = rows[i]!
    if (!onlyCritical || row.critical) list.push(row)
    i = closed.has(i) ? row.end : i + 1
  }
  return list
}

// withAncestorsOpen returns the collapsed rows without those that hide a row.
export function withAncestorsOpen(rows: SpanRow[], closed: ReadonlySet<number>, index: number): ReadonlySet<number> {
  const open = new Set(closed)
  for (let at = rows[index]?.parent ?? -1; at >= 0; at = rows[at]!.parent) open.delete(at)
  return open.size === closed.size ? closed : open
}
