import { useState } from 'preact/hooks'
import type { Service, ServiceDetail } from './api'
import { ComparisonGraph } from './compare'
import { clock, count, plural } from './format'
import { GraphView } from './graph'
import { amend, useApi, useTitle, type Route } from './hooks'
import { Table, type Column } from './list'
import { unzoomed } from './order'

const columns: Column<Service>[] = [
  { title: 'Service', kind: 'text', cell: (s) => <a class="title" href={'#/service?service=' + encodeURIComponent(s.name)}><bdi>{s.name}</bdi></a> },
  { title: 'Profiles', kind: 'number', cell: (s) => count(s.profiles) },
  { title: 'Traces', kind: 'number', cell: (s) => <a href={'#/?service=' + encodeURIComponent(s.name)}>{count(s.traces)}</a> },
  { title: 'Log records', kind: 'number', cell: (s) => <a href={'#/logs?service=' + encodeURIComponent(s.name)}>{count(s.logs)}</a> },
]

// Services lists the services.
export function Services({ services }: { services: Service[] }) {
  useTitle('Services')
  return (
    <>
      <h1>Services</h1>
      {services.length === 0 ? <p class="note">None yet.</p> : <Table label="Services" rows={services} columns={columns} sort="" id={(s) => s.name} />}
    </>
  )
}

const minutes = [1, 5, 15, 60]

// ServiceView shows the samples of all profiles of a service in the last minutes, alone or compared with the minutes before or with a
// release.
export function ServiceView({ route: { query: q }, route }: { route: Route }) {
  const service = q.get('service') ?? ''
  const { value: s } = useApi<ServiceDetail>('service?service=' + encodeURIComponent(service), 'profiles')
  const [now, setNow] = useState(Date.now)
  useTitle(service)
  const length = BigInt(Number(q.get('minutes')) || 15) * 60_000_000_000n
  const until = q.get('until') ? BigInt(q.get('until')!) : BigInt(now) * 1_000_000n
  const span = (end: bigint) => `${end - length}/${end}`
  const release = q.get('release') ?? undefined
  const other = q.get('with') ?? ''
  const change = (changes: Record<string, string | undefined>) => amend({ ...changes, ...unzoomed, function: undefined })
  const refresh = () => { setNow(Date.now()); change({ until: undefined }) }
  return (
    <>
      <div class="heading">
        <h1><bdi>{service}</bdi></h1>
        {s && <p class="meta"><span>{plural(s.profiles, 'stored profile')}</span>{s.profiles > 0 && <span>{clock(s.first)} to {clock(s.last)}</span>}</p>}
      </div>
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
            <option value="before">the {q.get('minutes') ?? 15} minutes before</option>
            {s?.releases.filter((r) => r.name && r.name !== release).map((r) => <option key={r.name} value={'release:' + r.name}>{r.name}</option>)}
          </select>
        </label>
        <button type="button" onClick={refresh}>Refresh</button>
      </div>
      {other === ''
        ? <GraphView key={span(until)} base={{ profiles: [], service, window: span(until), release }} route={route} />
        : <ComparisonGraph key={span(until)} selection={sides(service, span, until, length, release, other)} q={q}
          second={release ?? `the last ${q.get('minutes') ?? 15} minutes`} />}
    </>
  )
}

// sides is the comparison of a window with another release in the same window, or with the window before.
function sides(service: string, span: (end: bigint) => string, until: bigint, length: bigint, release: string | undefined, other: string): string {
  const q = new URLSearchParams({ service, a: span(other === 'before' ? until - length : until), b: span(until) })
  if (release) q.set('b_release', release)
  if (other.startsWith('release:')) q.set('a_release', other.slice('release:'.length))
  else if (release) q.set('a_release', release)
  return q.toString()
}
