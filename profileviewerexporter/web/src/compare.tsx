import { useMemo } from 'preact/hooks'
import type { Comparison, Operations, Profile, Service, ServiceDetail } from './api'
import { pictureOf, type Box } from './boxes'
import { pixels } from './detail'
import { clock, localTime, nanos, plural, share, titleOf, weight } from './format'
import { amend, useApi, useSearch, useTitle, type Route } from './hooks'
import { Changes } from './changed'
import { Omitted } from './omitted'
import { unzoomed } from './order'
import { ZoomableChart } from './zoomable'

// Compare shows two profiles, or two selections of services, in one graph.
export function Compare({ route: { query: q }, services }: { route: Route; services: Service[] }) {
  useTitle('Comparison')
  const ofServices = q.has('a_service') || q.has('b_service')
  const swap = '#/compare?' + new URLSearchParams([...q].map(([key, value]) => [key.replace(/^[ab](?=_|$)/, (side) => (side === 'a' ? 'b' : 'a')), value]))
  return (
    <>
      <h1>Comparison</h1>
      <div class="columns">
        {(['a', 'b'] as const).map((side) => (ofServices
          ? <SideForm key={side} side={side} q={q} services={services} />
          : <Side key={side} title={titles[side]} id={q.get(side) ?? ''} />))}
      </div>
      <ComparisonGraph selection={comparedBy(q)} q={q} second="the second" swap={swap} />
    </>
  )
}

const titles = { a: 'First', b: 'Second' }
const parts = ['service', 'release', 'operation', 'kind'] // that each side may have, see api_compare.go

// comparedBy returns the part of the address that selects the sides of a comparison.
function comparedBy(q: URLSearchParams): string {
  const keys = ['a', 'b'].flatMap((side) => [side, ...parts.map((part) => side + '_' + part)])
  return new URLSearchParams([...q].filter(([key]) => keys.includes(key))).toString()
}

// SideForm selects one side of a comparison of services: a service, and perhaps a release, an operation and a range of time of it.
function SideForm({ side, q, services }: { side: 'a' | 'b'; q: URLSearchParams; services: Service[] }) {
  const value = (part: string) => q.get(`${side}_${part}`) ?? ''
  const service = value('service')
  const other = side === 'a' ? 'b' : 'a'
  const othersRelease = q.get(other + '_service') === service && q.get(other + '_release') // which this side does not have
  const of = 'service=' + encodeURIComponent(service)
  const { value: s } = useApi<ServiceDetail>('service?' + of, 'profiles')
  const { value: operations } = useApi<Operations>(`operations?${of}&sort=name`, 'traces')
  const change = (changes: Record<string, string | undefined>) =>
    amend({ ...Object.fromEntries(Object.entries(changes).map(([part, to]) => [part ? `${side}_${part}` : side, to])), ...unzoomed })
  const choice = (title: string, chosen: string, list: [string, string][], choose: (value: string) => void, all?: string) => (
    <label>{title}{' '}
      <select value={chosen} onChange={(e) => choose(e.currentTarget.value)}>
        {all && <option value="">{all}</option>}
        {list.map(([key, text]) => <option key={key} value={key}>{text}</option>)}
        {chosen && !list.some(([key]) => key === chosen) && <option value={chosen}>{chosen}</option>}
      </select>
    </label>
  )
  const sampled = operations?.operations.filter((o) => o.samples > 0) ?? []
  const at = sampled.findIndex((o) => o.name === value('operation') && o.kind === value('kind'))
  const [from, to] = (q.get(side) ?? '/').split('/') as [string, string]
  const moment = (title: string, at: string, range: (at: string) => string) => (
    <label>{title}{' '}
      <input type="datetime-local" step="1" value={at && localTime(at)} onChange={(e) => change({ '': e.currentTarget.value && range(nanos(e.currentTarget.value)) })} />
    </label>
  )
  return (
    <fieldset class="side">
      <legend>{titles[side]}</legend>
      {choice('Service', service, services.map((x) => [x.name, x.name]), (name) => change({ service: name, release: undefined, operation: undefined, kind: undefined }))}
      {choice('Release', value('release'), (s?.releases ?? []).filter((r) => r.name).map((r) => [r.name, `${r.name} (${r.profiles})`]), (release) => change({ release }), othersRelease ? 'All others' : 'All')}
      {choice('Operation', at >= 0 ? String(at) : value('operation'), sampled.map((o, i) => [String(i), o.name || '(no name)']),
        (i) => change({ operation: sampled[Number(i)]?.name, kind: i ? sampled[Number(i)]?.kind : undefined }), 'All')}
      {s && moment('From', from, (at) => `${at}/${to || s.last}`)}
      {s && moment('Until', to, (at) => `${from || s.first}/${at}`)}
    </fieldset>
  )
}

function Side({ title, id }: { title: string; id: string }) {
  const { value: p } = useApi<Profile>('profiles/' + id)
  return (
    <p class="meta">
      <strong>{title}</strong>
      <a href={'#/profile/' + id}><bdi>{p ? titleOf(p) : 'profile ' + id}</bdi></a>
      {p && titleOf(p) !== p.service && <bdi>{p.service}</bdi>}
      {p && <time>{clock(p.start)}</time>}
      {p && <span>{weight(p.weight, p.measure)}</span>}
    </p>
  )
}

// ComparisonGraph shows two selections in one graph: red functions weigh more in the second one, blue functions weigh less. Differences
// that chance explains have no color. The functions with the largest changes are below it.
export function ComparisonGraph({ selection, q, first, second, swap }: { selection: string; q: URLSearchParams; first?: string; second: string; swap?: string }) {
  const { text: search, setText: setSearch, settled: term } = useSearch(q)
  const path = `compare?${selection}&active=1&pixels=${pixels()}${term && '&q=' + encodeURIComponent(term)}`
  const { value: graph, error } = useApi<Comparison>(path)
  const picture = useMemo(() => graph && pictureOf(graph, 0, graph.total), [graph])
  if (error) return <p class="warn" role="alert">{error}; select another time or release</p>
  if (!graph || !picture) return <p class="note">Loading…</p>
  const describe = (n: Box) => {
    const change = n.delta === 0 ? 'no difference beyond chance' : `${share(Math.abs(n.delta), graph.after)} ${n.delta > 0 ? 'more' : 'less'} in ${second}`
    return `${n.kind === 'combined' ? plural(n.count, 'function') : n.name} · ${change}`
  }
  return (
    <>
      <div class="tools">
        <label class="search">Search <input type="search" value={search} placeholder="regular expression (/)" onInput={(e) => setSearch(e.currentTarget.value)} /></label>
        {swap && <a class="button" href={swap}>Swap</a>}
        <span class="legend"><span class="more">more in {second}</span><span class="less">less</span><span class="even" title="The numbers of samples are too small to tell a difference, or it is less than 1%">no difference beyond chance</span></span>
      </div>
      <p class="sum" data-total={graph.total}>
        First{first && <> (<bdi>{first}</bdi>)</>}: {weight(graph.before, graph.measure)} in {plural(graph.before_samples, 'sample')} of {plural(graph.before_profiles, 'profile')}, scaled to the weight of the second.
        {' '}Second{first && <> (<bdi>{second}</bdi>)</>}: {weight(graph.after, graph.measure)} in {plural(graph.after_samples, 'sample')} of {plural(graph.after_profiles, 'profile')}.
      </p>
      <Omitted from={graph} />
      <ZoomableChart path={path} q={q} whole={picture} describe={describe} coloring="delta" onSelect={() => undefined} />
      <Changes graph={graph} search={setSearch} />
    </>
  )
}
