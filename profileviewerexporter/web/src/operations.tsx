import { useState } from 'preact/hooks'
import type { ErrorGroups, Logs, Operation, Operations as Answer } from './api'
import { count, duration, plural, share } from './format'
import { GraphView } from './graph'
import { amend, useApi, type Route } from './hooks'
import { Amount, Filters, listPath, most, Pager, Table, type Column } from './list'
import { Omitted } from './omitted'
import { unzoomed } from './order'

// opened is the change of the address that shows the samples of an operation.
export const opened = (o: Operation): Record<string, string | undefined> =>
  ({ operation: o.name, kind: o.kind, tab: undefined, q: undefined, sort: undefined, offset: undefined, with: undefined, function: undefined, ...unzoomed })

const idOf = (o: Operation): string => o.kind + o.name

const comparison = (service: string, [a, b]: [Operation, Operation]): string =>
  '#/compare?' + new URLSearchParams({ a_service: service, a_operation: a.name, a_kind: a.kind, b_service: service, b_operation: b.name, b_kind: b.kind })

// Operations lists the operations of a service.
export function Operations({ q }: { q: URLSearchParams }) {
  const { value, error } = useApi<Answer>(listPath('operations', q, { sort: '-total' }), 'traces', 'profiles')
  const list = value?.operations ?? []
  const [compared, setCompared] = useState<Operation[]>([])
  const isCompared = (o: Operation) => compared.some((x) => idOf(x) === idOf(o))
  const compare = (o: Operation) => setCompared((old) => (isCompared(o) ? old.filter((x) => idOf(x) !== idOf(o)) : [...old, o].slice(-2)))
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
    {
      title: 'Compare', kind: 'control', cell: (o) => o.samples > 0 && (
        <label class="check" title="Compare with another operation">
          <input type="checkbox" checked={isCompared(o)} onChange={() => compare(o)} /><span class="hidden">Compare {o.name}</span>
        </label>
      ),
    },
  ]
  return (
    <>
      <Filters q={q} placeholder="operation">
        {compared.length === 2
          ? <a class="button" href={comparison(q.get('service') ?? '', compared as [Operation, Operation])}>Compare the two</a>
          : compared.length === 1 && <small>select another operation to compare</small>}
      </Filters>
      {error && <p class="warn" role="alert">{error}</p>}
      {value && (list.length === 0
        ? <p class="note">{q.has('q') ? 'No operation matches.' : 'No spans of this service are stored.'}</p>
        : <Table label="Operations" rows={list} columns={columns} sort={q.get('sort') ?? '-total'} id={idOf} />)}
      {value && <Pager q={q} shown={list.length} all={value.count} />}
      {value?.unread && <p class="note">The samples of the oldest profiles are not counted.</p>}
      {value && <Omitted from={value} />}
    </>
  )
}

function OperationName({ operation: o }: { operation: Operation }) {
  return (
    <>
      <button type="button" class="link title" title="Its samples, slowest traces, errors and logs" onClick={() => amend(opened(o))}><bdi>{o.name || '(no name)'}</bdi></button>{' '}
      <small>{o.kind !== 'Unspecified' && o.kind.toLowerCase()}</small>
    </>
  )
}

// Slowest links to the slowest spans of an operation.
export function Slowest({ operation: o, most }: { operation: Operation; most: number }) {
  return <>{o.slowest.slice(0, most).map((s) => <a key={s.span} href={`#/trace/${s.trace}?span=${s.span}`}>{duration(s.duration)}</a>)}</>
}

// operationIn is the part of the address that selects an operation of a service.
const operationIn = (q: URLSearchParams): URLSearchParams =>
  new URLSearchParams(['service', 'operation', 'kind'].flatMap((key) => (q.has(key) ? [[key, q.get(key)!]] : [])))

// OperationView shows an operation: its time by kind of call, slowest traces, errors and logs, and the graph of its samples.
export function OperationView({ route, release }: { route: Route; release?: string }) {
  const of = operationIn(route.query)
  const { value, error } = useApi<Answer>('operations?' + of, 'traces', 'profiles')
  const { value: errors } = useApi<ErrorGroups>(`errors?${of}&entries=0`, 'logs', 'traces')
  const { value: logs } = useApi<Logs>(`logs?${of}&entries=0`, 'logs')
  if (error) return <p class="warn" role="alert">{error}</p>
  if (!value) return <p class="note">Loading…</p>
  const o = value.operations[0]
  if (!o) return <p class="note">No spans of this operation are stored. <OperationChip q={route.query} title="Show all samples" /></p>
  const part = (kind: string, text: string, time: number) => time > 0 &&
    <li><span class={'swatch ' + kind} aria-hidden="true" />{text} {duration(time)} <small>{share(time, o.total)}</small></li>
  const all = Math.max(1, o.database + o.remote + o.own)
  return (
    <>
      <p class="meta">
        <OperationChip q={route.query} title="Show all samples" />
        <span>{plural(o.count, 'span')}</span><span>{rate(o.rate)}</span>
        <span>p50 {duration(o.p50)}</span><span>p95 {duration(o.p95)}</span><span>p99 {duration(o.p99)}</span>
        {o.errors > 0 && <span class="bad">{share(o.errors, o.count)} failed</span>}
        {errors && errors.errors > 0 && <a href={'#/errors?' + of}>{plural(errors.errors, 'error')}</a>}
        {logs && logs.count > 0 && <a href={'#/logs?' + of}>{plural(logs.count, 'log record')}</a>}
      </p>
      <div class="parts">
        <span class="stack" aria-hidden="true">
          {(['database', 'remote', 'own'] as const).map((kind) => <span key={kind} class={kind} style={{ width: `${(100 * o[kind]) / all}%` }} />)}
        </span>
        <ul class="meta" aria-label="Time by kind">
          {part('database', 'Database', o.database)}{part('remote', 'HTTP, RPC', o.remote)}{part('own', 'Own code', o.own)}
        </ul>
        <p class="meta">Slowest: <Slowest operation={o} most={5} /></p>
      </div>
      {o.samples > 0
        ? <GraphView base={{ profiles: [], service: of.get('service')!, release, operation: o.name, kind: o.kind }} route={route} />
        : <p class="note">No profile has samples of this operation.</p>}
    </>
  )
}

// OperationChip states to which operation a view is restricted, and ends that.
export function OperationChip({ q, title }: { q: URLSearchParams; title: string }) {
  if (!q.has('operation')) return null
  return (
    <button type="button" class="chip" title={title} onClick={() => amend({ operation: undefined, kind: undefined, function: undefined, offset: undefined, ...unzoomed })}>
      Operation <bdi>{q.get('operation') || '(no name)'}</bdi> <span aria-hidden="true">✕</span>
    </button>
  )
}

// rate returns a frequency, in the unit that needs no small fractions.
function rate(perSecond: number): string {
  const [n, unit] = perSecond >= 1 ? [perSecond, 's'] : perSecond >= 1 / 60 ? [60 * perSecond, 'min'] : [3600 * perSecond, 'h']
  return `${Number(n.toPrecision(2))}/${unit}`
}
