import { useEffect, useState } from 'preact/hooks'
import type { Service, ServiceDetail, Services as Answer } from './api'
import { ComparisonGraph } from './compare'
import { ago, clock, count, nanos, plural } from './format'
import { GraphView } from './graph'
import { amend, useApi, useTitle, type Route } from './hooks'
import { Amount, Filters, listPath, most, Pager, Table, type Column } from './list'
import { Omitted } from './omitted'
import { Operations, OperationView } from './operations'
import { unzoomed } from './order'

// Services lists the services.
export function Services({ route: { query: q } }: { route: Route }) {
  const { value, error } = useApi<Answer>(listPath('services', q), 'profiles', 'traces', 'logs', 'metrics')
  useTitle('Services')
  const list = value?.services ?? []
  const link = (view: string, s: Service, n: number, all: (s: Service) => number) => (n === 0 ? ''
    : <Amount value={n} most={most(list, all)}><a href={`#/${view}?service=${encodeURIComponent(s.name)}`}>{count(n)}</a></Amount>)
  const columns: Column<Service>[] = [
    { title: 'Service', key: 'name', kind: 'text', cell: (s) => <a class="title" href={'#/service?service=' + encodeURIComponent(s.name)}><bdi>{s.name || '(no name)'}</bdi></a> },
    { title: 'Profiles', key: 'profiles', kind: 'number', cell: (s) => link('', s, s.profiles, (x) => x.profiles) },
    { title: 'Traces', key: 'traces', kind: 'number', cell: (s) => link('', s, s.traces, (x) => x.traces) },
    { title: 'Errors', key: 'errors', kind: 'number', cell: (s) => link('errors', s, s.errors, (x) => x.errors) },
    { title: 'Logs', key: 'logs', kind: 'number', cell: (s) => link('logs', s, s.logs, (x) => x.logs) },
    { title: 'Metric points', key: 'points', kind: 'number', cell: (s) => link('metrics', s, s.points, (x) => x.points) },
    { title: 'Received', key: 'arrived', kind: 'number', cell: (s) => <time>{ago(nanos(s.arrived))}</time> },
  ]
  return (
    <>
      <h1>Services</h1>
      <Filters q={q} placeholder="name" />
      {error && <p class="warn" role="alert">{error}</p>}
      {value && (list.length === 0
        ? <p class="note">{q.has('q') ? 'No service matches.' : 'None yet.'}</p>
        : <Table label="Services" rows={list} columns={columns} sort={q.get('sort') ?? 'name'} id={(s) => s.name} />)}
      {value && <Pager q={q} shown={list.length} all={value.count} />}
      {value && <Omitted from={value} />}
    </>
  )
}

const minutes = [1, 5, 15, 60]

// explored are the keys of the address that refer to a part of the displayed graph. While it has one, the window does not move with
// new profiles.
const explored = ['function', 'focus', 'hide', 'fold', 'zoom', 'callers']

// ServiceView shows the samples of all profiles of a service in the last minutes, alone or compared with the minutes before or with a
// release.
export function ServiceView({ route: { query: q }, route }: { route: Route }) {
  const service = q.get('service') ?? ''
  const { value: s } = useApi<ServiceDetail>('service?service=' + encodeURIComponent(service), 'profiles')
  const [now, setNow] = useState(Date.now)
  useTitle(service)
  const length = BigInt(Number(q.get('minutes')) || 15) * 60_000_000_000n
  const window = plural(Number(q.get('minutes')) || 15, 'minute')
  const until = q.get('until') ? BigInt(q.get('until')!) : BigInt(now) * 1_000_000n
  const span = (end: bigint) => `${end - length}/${end}`
  const release = q.get('release') ?? undefined
  const other = q.get('with') ?? ''
  const change = (changes: Record<string, string | undefined>) => amend({ ...changes, ...unzoomed, function: undefined })
  const refresh = () => { setNow(Date.now()); change({ until: undefined }) }
  const operation = q.get('operation') ?? undefined
  const tab = s?.profiles === 0 && operation === undefined ? 'operations' : q.get('tab')
  const isNew = s !== undefined && !q.has('until') && BigInt(s.last) > until
  const isExplored = explored.some((key) => q.has(key))
  useEffect(() => { if (isNew && !isExplored) setNow(Date.now()) }, [s?.last, isExplored])
  return (
    <>
      <div class="heading">
        <h1><bdi>{service}</bdi></h1>
        {s && <p class="meta"><span>{plural(s.profiles, 'stored profile')}</span>{s.profiles > 0 && <span>{clock(s.first)} to {clock(s.last)}</span>}</p>}
      </div>
      {s && s.profiles > 0 && <div class="tools">
        <div class="choice" role="group" aria-label="View">
          {[[undefined, 'Flame graph'], ['operations', 'Operations']].map(([value, text]) => (
            <button key={text} type="button" aria-pressed={tab === (value ?? null)}
              onClick={() => amend({ tab: value, q: undefined, sort: undefined, offset: undefined })}>{text}</button>
          ))}
        </div>
      </div>}
      {tab === 'operations' ? <Operations q={q} />
        : operation !== undefined ? <OperationView key={operation + q.get('kind')} route={route} release={release} />
        : <>
      <div class="tools" role="toolbar" aria-label="Selection">
        <label>Last{' '}
          <select value={q.get('minutes') ?? '15'} onChange={(e) => change({ minutes: e.currentTarget.value })}>
            {minutes.map((m) => <option key={m} value={m}>{plural(m, 'minute')}</option>)}
          </select>
        </label>
        {s && <label>Until{' '}
          <select value={q.get('until') ?? ''} onChange={(e) => (e.currentTarget.value ? change({ until: e.currentTarget.value }) : refresh())}>
            <option value="">now</option>
            <option value={s.last}>the last profile, {clock(s.last)}</option>
            {q.get('until') && q.get('until') !== s.last && <option value={q.get('until')!}>{clock(q.get('until')!)}</option>}
          </select>
        </label>}
        <label>Release{' '}
          <select value={release ?? ''} onChange={(e) => change({ release: e.currentTarget.value })}>
            <option value="">All</option>
            {s?.releases.filter((r) => r.name).map((r) => <option key={r.name} value={r.name}>{r.name} ({r.profiles})</option>)}
          </select>
        </label>
        <label>Compare with{' '}
          <select value={other} onChange={(e) => change({ with: e.currentTarget.value })}>
            <option value="">nothing</option>
            <option value="before">the {window} before</option>
            {s?.releases.filter((r) => r.name && r.name !== release).map((r) => <option key={r.name} value={'release:' + r.name}>{r.name}</option>)}
          </select>
        </label>
        <a class="button" href={'#/compare?' + new URLSearchParams({ a_service: service, a: span(until), b_service: service, b: span(until), ...(release && { b_release: release }) })}>Compare…</a>
        <button type="button" onClick={refresh}>Refresh{isNew && isExplored && <span class="mark"> new profiles</span>}</button>
      </div>
      {s && BigInt(s.last) <= until - length
        ? <p class="note">No profile of the last {window}. <button type="button" class="link" onClick={() => change({ until: s.last })}>Show the latest</button></p>
        : other === ''
        ? <GraphView base={{ profiles: [], service, window: span(until), release }} route={route} />
        : <ComparisonGraph selection={sides(service, span, until, length, release, other)} q={q}
          first={other === 'before' ? `the ${window} before` : other.replace('release:', '')} second={release ?? (other === 'before' ? `the last ${window}` : 'other releases')} />}
        </>}
    </>
  )
}

// sides is the comparison of a window with another release in the same window, or with the window before. A side without a release
// does not have that of the other side.
function sides(service: string, span: (end: bigint) => string, until: bigint, length: bigint, release: string | undefined, other: string): string {
  const q = new URLSearchParams({ service, a: span(other === 'before' ? until - length : until), b: span(until) })
  if (release) q.set('b_release', release)
  if (other.startsWith('release:')) q.set('a_release', other.slice('release:'.length))
  else if (release) q.set('a_release', release)
  return q.toString()
}
