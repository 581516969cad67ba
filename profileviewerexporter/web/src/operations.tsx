import type { Operation, Operations as Answer } from './api'
import { count, duration, plural, share } from './format'
import { amend, useApi } from './hooks'
import { Amount, Filters, listPath, most, Pager, Table, type Column } from './list'
import { Omitted } from './omitted'
import { unzoomed } from './order'

// opened is the change of the address that shows the samples of an operation.
export const opened = (o: Operation): Record<string, string | undefined> =>
  ({ operation: o.name, kind: o.kind, tab: undefined, q: undefined, sort: undefined, offset: undefined, with: undefined, function: undefined, ...unzoomed })

// Operations lists the operations of a service.
export function Operations({ q }: { q: URLSearchParams }) {
  const { value, error } = useApi<Answer>(listPath('operations', q, { sort: '-total' }), 'traces', 'profiles')
  const list = value?.operations ?? []
  const time = (key: 'p50' | 'p95' | 'p99'): Column<Operation> =>
    ({ title: key, key, kind: 'number', cell: (o) => duration(o[key]) })
  const part = (key: 'database' | 'remote' | 'own', title: string): Column<Operation> =>
    ({ title, key, kind: 'number', cell: (o) => (o[key] > 0 ? <span title={duration(o[key])}>{share(o[key], o.total)}</span> : '') })
  const columns: Column<Operation>[] = [
    { title: 'Operation', key: 'name', kind: 'text', cell: (o) => <OperationName operation={o} /> },
    { title: 'Count', key: 'count', kind: 'number', cell: (o) => count(o.count) },
    { title: 'Rate', key: 'rate', kind: 'number', cell: (o) => rate(o.rate) },
    time('p50'), time('p95'), time('p99'),
    { title: 'Errors', key: 'errors', kind: 'number', cell: (o) => (o.errors > 0 ? <span class="bad" title={plural(o.errors, 'error')}>{share(o.errors, o.count)}</span> : '') },
    { title: 'Total', key: 'total', kind: 'number', cell: (o) => <Amount value={o.total} most={most(list, (x) => x.total)}>{duration(o.total)}</Amount> },
    part('database', 'Database'), part('remote', 'HTTP, RPC'), part('own', 'Own code'),
    { title: 'Samples', key: 'samples', kind: 'number', cell: (o) => (o.samples > 0 ? <span class="mark">{count(o.samples)}</span> : '') },
    { title: 'Slowest', kind: 'number', cell: (o) => <Slowest operation={o} most={1} /> },
  ]
  return (
    <>
      <Filters q={q} placeholder="operation" />
      {error && <p class="warn" role="alert">{error}</p>}
      {value && (list.length === 0
        ? <p class="note">{q.has('q') ? 'No operation matches.' : 'No spans of this service are stored.'}</p>
        : <Table label="Operations" rows={list} columns={columns} sort={q.get('sort') ?? '-total'} id={(o) => o.kind + o.name} />)}
      {value && <Pager q={q} shown={list.length} all={value.count} />}
      {value?.unread && <p class="note">The samples of the oldest profiles are not counted.</p>}
      {value && <Omitted from={value} />}
    </>
  )
}

function OperationName({ operation: o }: { operation: Operation }) {
  const name = <bdi>{o.name || '(no name)'}</bdi>
  return (
    <>
      {o.samples > 0 ? <button type="button" class="link title" title="Flame graph of its samples" onClick={() => amend(opened(o))}>{name}</button> : name}{' '}
      <small>{o.kind !== 'Unspecified' && o.kind.toLowerCase()}</small>
    </>
  )
}

// Slowest links to the slowest spans of an operation.
export function Slowest({ operation: o, most }: { operation: Operation; most: number }) {
  return <>{o.slowest.slice(0, most).map((s) => <a key={s.span} href={`#/trace/${s.trace}?span=${s.span}`}>{duration(s.duration)}</a>)}</>
}

// Opened states which operation the graph shows, with its slowest spans.
export function Opened({ q }: { q: URLSearchParams }) {
  const [service, name, kind] = [q.get('service') ?? '', q.get('operation') ?? '', q.get('kind')]
  const found = new URLSearchParams({ service, q: name })
  const { value } = useApi<Answer>('operations?' + found, 'traces', 'profiles')
  const o = value?.operations.find((x) => x.name === name && x.kind === kind)
  return (
    <p class="meta">
      <button type="button" class="chip" title="Show all samples" onClick={() => amend({ operation: undefined, kind: undefined, function: undefined, ...unzoomed })}>
        Operation <bdi>{name}</bdi> <span aria-hidden="true">✕</span>
      </button>
      {o && <><span>{plural(o.count, 'span')}</span><span>p95 {duration(o.p95)}</span><span class="meta">slowest: <Slowest operation={o} most={5} /></span></>}
    </p>
  )
}

// rate returns a frequency, in the unit that needs no small fractions.
function rate(perSecond: number): string {
  const [n, unit] = perSecond >= 1 ? [perSecond, 's'] : perSecond >= 1 / 60 ? [60 * perSecond, 'min'] : [3600 * perSecond, 'h']
  return `${Number(n.toPrecision(2))}/${unit}`
}
