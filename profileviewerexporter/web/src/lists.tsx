import { useState } from 'preact/hooks'
import type { Notices, Overview, ProfileListing, Profiles, Service, TraceListing, Traces } from './api'
import { ago, clock, count, duration, nanos, plural, titleOf, weight } from './format'
import { amend, useApi, useTitle, type Loaded, type Route } from './hooks'
import { Amount, Filters, listPath, most, Pager, Table, type Column } from './list'
import { Held } from './notices'
import { Omitted } from './omitted'
import { Welcome } from './welcome'

const names = ['profiles-', 'traces-'] // of the two lists in the address
const latest = '-start' // the sort order of both

// Lists is the overview: the profiles and the traces, searched and filtered together.
export function Lists({ live, route: { query: q }, notices }: { live: Loaded<Overview>; route: Route; notices?: Notices }) {
  const service = q.get('service') ?? ''
  const o = live.value
  useTitle(service)
  if (!o) return <p class="note">{live.loading ? 'Loading…' : 'Cannot connect to the collector.'}</p>
  if (o.services.length === 0) return <Welcome notices={notices} />
  return (
    <>
      <h1 class="hidden">Overview</h1>
      <Filters q={q} placeholder="name, service, ID" services={o.services} names={names}>
        {service && <a class="button" href={'#/service?service=' + encodeURIComponent(service)}>Merged flame graph of {service}</a>}
        {service && <Others service={o.services.find((s) => s.name === service)} />}
      </Filters>
      <div class="columns">
        <ProfileList q={q} notices={notices} />
        <TraceList q={q} />
      </div>
    </>
  )
}

// Others links to the other lists of a service.
function Others({ service: s }: { service?: Service }) {
  if (!s) return null
  const of = '?service=' + encodeURIComponent(s.name)
  return (
    <span class="meta">
      {s.errors > 0 && <a href={'#/errors' + of}>{plural(s.errors, 'error')}</a>}
      {s.logs > 0 && <a href={'#/logs' + of}>{plural(s.logs, 'log record')}</a>}
      {s.points > 0 && <a href={'#/metrics' + of}>Metrics</a>}
    </span>
  )
}

function ProfileList({ q, notices }: { q: URLSearchParams; notices?: Notices }) {
  const { value, error } = useApi<Profiles>(listPath('profiles', q, { name: 'profiles-', sort: latest }), 'profiles', 'traces')
  const [compared, setCompared] = useState<string[]>([])
  const compare = (id: string) => setCompared((old) => (old.includes(id) ? old.filter((x) => x !== id) : [...old, id].slice(-2)))
  const longest = most(value?.profiles ?? [], (p) => p.duration)
  const columns: Column<ProfileListing>[] = [
    { title: 'Profile', key: 'name', kind: 'text', cell: (p) => <ProfileName profile={p} /> },
    { title: 'Duration', key: 'duration', kind: 'number', cell: (p) => <Amount value={p.duration} most={longest}>{p.duration > 0 ? duration(p.duration) : weight(p.weight, p.measure)}</Amount> },
    { title: 'Samples', key: 'samples', kind: 'number', cell: (p) => count(p.samples) },
    { title: 'Threads', key: 'threads', kind: 'number', cell: (p) => count(p.threads) },
    { title: 'Spans', key: 'spans', kind: 'number', cell: (p) => (p.spans > 0 ? <span class="mark">{count(p.spans)}</span> : '') },
    { title: 'Start', key: 'start', kind: 'number', cell: (p) => <Start of={p} /> },
    {
      title: 'Compare', kind: 'control', cell: (p) => (
        <label class="check" title="Compare with another profile">
          <input type="checkbox" checked={compared.includes(p.id)} onChange={() => compare(p.id)} /><span class="hidden">Compare profile {p.id}</span>
        </label>
      ),
    },
  ]
  return (
    <section aria-labelledby="profiles">
      <h2 id="profiles">Profiles <small>{value && count(value.count)}</small> <small><Held notices={notices} /></small>
        <span class="grow" />
        {compared.length === 2
          ? <a class="button" href={`#/compare?a=${compared[0]}&b=${compared[1]}`}>Compare the two</a>
          : compared.length === 1 && <small>select another profile to compare</small>}
      </h2>
      {error && <p class="warn" role="alert">{error}</p>}
      {value && (value.profiles.length === 0
        ? <Nothing what="profile" q={q} />
        : <Table label="List of profiles" rows={value.profiles} columns={columns} sort={q.get('profiles-sort') ?? latest} id={(p) => p.id} name="profiles-" />)}
      {value && <Pager q={q} shown={value.profiles.length} all={value.count} name="profiles-" />}
      {value && <Omitted from={value} />}
    </section>
  )
}

// Start is the start of a profile or trace. A date may have a line of its own.
function Start({ of: { start, arrived } }: { of: { start: string; arrived: string } }) {
  return <time title={'received ' + ago(nanos(arrived))}>{clock(start).split(' ').map((part) => <><span>{part}</span>{' '}</>)}</time>
}

function ProfileName({ profile: p }: { profile: ProfileListing }) {
  const title = titleOf(p)
  return (
    <>
      <a class="title" href={'#/profile/' + p.id}><bdi>{title}</bdi></a>{' '}
      <small>{title !== p.service && <><bdi>{p.service}</bdi> · </>}{p.measure.type}</small>
    </>
  )
}

function TraceList({ q }: { q: URLSearchParams }) {
  const { value, error } = useApi<Traces>(listPath('traces', q, { name: 'traces-', sort: latest }), 'profiles', 'traces', 'logs')
  const longest = most(value?.traces ?? [], (t) => t.duration)
  const columns: Column<TraceListing>[] = [
    { title: 'Trace', key: 'name', kind: 'text', cell: (t) => <TraceName trace={t} /> },
    { title: 'Duration', key: 'duration', kind: 'number', cell: (t) => <Amount value={t.duration} most={longest}>{duration(t.duration)}</Amount> },
    { title: 'Spans', key: 'spans', kind: 'number', cell: (t) => count(t.spans) },
    { title: 'Errors', key: 'errors', kind: 'number', cell: (t) => (t.errors > 0 ? <span class="bad">{count(t.errors)}</span> : '') },
    { title: 'Logs', key: 'logs', kind: 'number', cell: (t) => (t.logs > 0 ? count(t.logs) : '') },
    { title: 'Profiles', key: 'profiles', kind: 'number', cell: (t) => (t.profiles > 0 ? <span class="mark">{count(t.profiles)}</span> : '') },
    { title: 'Start', key: 'start', kind: 'number', cell: (t) => <Start of={t} /> },
  ]
  return (
    <section aria-labelledby="traces">
      <h2 id="traces">Traces <small>{value && count(value.count)}</small></h2>
      {error && <p class="warn" role="alert">{error}</p>}
      {value && (value.traces.length === 0
        ? <Nothing what="trace" q={q} />
        : <Table label="List of traces" rows={value.traces} columns={columns} sort={q.get('traces-sort') ?? latest} id={(t) => t.id} name="traces-" />)}
      {value && <Pager q={q} shown={value.traces.length} all={value.count} name="traces-" />}
      {value && <Omitted from={value} />}
    </section>
  )
}

function TraceName({ trace: t }: { trace: TraceListing }) {
  return (
    <>
      <a class="title" href={'#/trace/' + t.id}><bdi>{t.name || 'trace ' + t.id.slice(0, 8)}</bdi></a>{' '}
      <small><bdi>{t.services.join(', ')}</bdi></small>
    </>
  )
}

function Nothing({ what, q }: { what: string; q: URLSearchParams }) {
  return (
    <p class="note">
      {q.has('q') || q.has('service') ? <>No {what} matches. <button type="button" class="link" onClick={() => amend({ q: undefined, service: undefined })}>Show all</button></> : 'None yet.'}
    </p>
  )
}
