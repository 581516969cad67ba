import type { Metrics as Answer, Series, Service } from './api'
import { clock, count, number } from './format'
import { useApi, useTitle, type Route } from './hooks'
import { Filters, listPath, Pager, Table, type Column } from './list'
import { Omitted } from './omitted'

const columns: Column<Series>[] = [
  { title: 'Metric', key: 'name', kind: 'text', cell: (s) => <Name series={s} /> },
  { title: 'Over time', kind: 'trend', cell: (s) => <Line series={s} /> },
  { title: 'Latest', kind: 'number', cell: (s) => number(s.latest, s.unit) },
  { title: 'Lowest', kind: 'number', cell: (s) => number(s.low, s.unit) },
  { title: 'Highest', kind: 'number', cell: (s) => number(s.high, s.unit) },
  { title: 'Sum', kind: 'number', cell: (s) => (s.kind === 'sum' ? number(s.sum, s.unit) : '') },
  { title: 'Points', key: 'points', kind: 'number', cell: (s) => count(s.points) },
  { title: 'Service', key: 'service', kind: 'name', cell: (s) => <bdi>{s.service}</bdi> },
]

// Metrics lists series of metrics as small charts.
export function Metrics({ route: { query: q }, services }: { route: Route; services: Service[] }) {
  const { value, error } = useApi<Answer>(listPath('metrics', q), 'metrics')
  useTitle('Metrics', q.get('service') ?? undefined)
  const id = (s: Series) => [s.service, s.name, s.kind, s.unit, ...s.labels.map((l) => l.key + '=' + l.value)].join()
  return (
    <>
      <h1>Metrics</h1>
      <Filters q={q} placeholder="name, attribute=value" services={services} />
      {error && <p class="warn" role="alert">{error}</p>}
      {value && (value.series.length === 0
        ? <p class="note">{value.count === 0 && q.toString() === '' ? 'None yet.' : 'No metric matches.'}</p>
        : <>
          <p class="note">The charts show <time>{clock(value.first)}</time> to <time>{clock(value.last)}</time>: sums per step, averages of other metrics.</p>
          <Table label="Metrics" rows={value.series} columns={columns} sort={q.get('sort') ?? 'name'} id={id} />
        </>)}
      {value && <Pager q={q} shown={value.series.length} all={value.count} />}
      {value && value.unread > 0 && <p class="note">{count(value.unread)} points are not shown: too many or no numbers.</p>}
      {value && <Omitted from={value} />}
    </>
  )
}

function Name({ series: s }: { series: Series }) {
  return (
    <>
      <bdi class="title">{s.name}</bdi> <small>{s.kind}</small>
      {s.labels.length > 0 && <small class="line">{s.labels.map((l) => <bdi key={l.key} class="label">{l.key}={l.value}</bdi>)}</small>}
    </>
  )
}

const height = 20

// Line is a chart of values in equal steps: bars for sums, a line for others.
function Line({ series: s }: { series: Series }) {
  const known = s.values.filter((v) => v !== null)
  const low = s.kind === 'sum' ? Math.min(0, ...known) : Math.min(...known)
  const extent = Math.max(...known) - low || 1
  const y = (v: number) => height - 1 - (v - low) / extent * (height - 2)
  const path = s.kind === 'sum'
    ? s.values.map((v, i) => (v === null ? '' : `M${i},${height}V${Math.min(height - 1, y(v))}h0.8V${height}Z`)).join('')
    : s.values.reduce((text, v, i) => (v === null ? text : `${text}${text === '' ? 'M' : 'L'}${i},${y(v)}h1`), '')
  const label = `${s.name} over time, from ${number(s.low, s.unit)} to ${number(s.high, s.unit)}`
  return <svg class={'bars ' + s.kind} viewBox={`0 0 ${s.values.length} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}><path d={path} /></svg>
}
