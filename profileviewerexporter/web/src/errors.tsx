import type { ErrorGroup, ErrorGroups, Service } from './api'
import { ago, count, plural } from './format'
import { useApi, useTitle, type Route } from './hooks'
import { Bars, Filters, listPath, Pager, Table, type Column } from './list'
import { Omitted } from './omitted'
import { OperationChip } from './operations'

const columns: Column<ErrorGroup>[] = [
  { title: 'Error', key: 'type', kind: 'text', cell: (g) => <Headline group={g} /> },
  { title: 'Over time', kind: 'trend', cell: (g) => <Bars values={g.activity} label={`${plural(g.count, 'error')} over time`} /> },
  { title: 'Count', key: 'count', kind: 'number', cell: (g) => count(g.count) },
  { title: 'Last', key: 'last', kind: 'number', cell: (g) => <time>{ago(g.last)}</time> },
  { title: 'First', key: 'first', kind: 'number', cell: (g) => <time>{ago(g.first)}</time> },
  { title: 'Services', kind: 'name', cell: (g) => <bdi>{g.services.join(', ')}</bdi> },
]

// Errors lists the groups of equal errors.
export function Errors({ route: { query: q }, services }: { route: Route; services: Service[] }) {
  const { value, error } = useApi<ErrorGroups>(listPath('errors', q, { more: ['operation', 'kind'] }), 'logs', 'traces')
  useTitle('Errors', q.get('service') ?? undefined)
  return (
    <>
      <h1>Errors</h1>
      <Filters q={q} placeholder="type, message, function" services={services}><OperationChip q={q} title="Show the errors of all operations" /></Filters>
      {error && <p class="warn" role="alert">{error}</p>}
      {value && (value.groups.length === 0
        ? <p class="note">{value.count === 0 && !q.has('q') ? 'None yet.' : 'No error matches.'}</p>
        : <Table label="Groups of errors" rows={value.groups} columns={columns} sort={q.get('sort') ?? '-last'} id={(g) => g.id} />)}
      {value && <Pager q={q} shown={value.groups.length} all={value.count} />}
      {value && value.unread > 0 && <p class="note">{count(value.unread)} older errors are not read; select a service or wait until they expire.</p>}
      {value && <Omitted from={value} />}
    </>
  )
}

function Headline({ group: g }: { group: ErrorGroup }) {
  return (
    <>
      <a class="title" href={'#/error/' + g.id}><bdi>{g.type || g.message || 'error'}</bdi></a>{' '}
      {g.handled === false && <span class="bad">unhandled</span>}
      {g.type && <div class="line"><bdi>{g.message}</bdi></div>}
      {g.place && <small class="line"><bdi>{g.place}</bdi></small>}
    </>
  )
}
