import { useMemo } from 'preact/hooks'
import type { Comparison, Profile } from './api'
import { pictureOf, type Box } from './boxes'
import { pixels } from './detail'
import { clock, plural, share, titleOf, weight } from './format'
import { useApi, useSearch, useTitle, type Route } from './hooks'
import { Changes } from './changed'
import { Omitted } from './omitted'
import { ZoomableChart } from './zoomable'

// Compare shows two profiles in one graph.
export function Compare({ route }: { route: Route }) {
  const a = route.query.get('a') ?? ''
  const b = route.query.get('b') ?? ''
  useTitle('Comparison')
  return (
    <>
      <h1>Profile comparison</h1>
      <div class="columns">
        <Side title="First" id={a} />
        <Side title="Second" id={b} />
      </div>
      <ComparisonGraph selection={`a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`} q={route.query} second="the second profile"
        swap={`#/compare?a=${b}&b=${a}`} />
    </>
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

// ComparisonGraph shows two selections in one graph: red functions weigh more in the second one, blue functions weigh less. The
// functions with the largest changes are below it.
export function ComparisonGraph({ selection, q, first, second, swap }: { selection: string; q: URLSearchParams; first?: string; second: string; swap?: string }) {
  const { text: search, setText: setSearch, settled: term } = useSearch(q)
  const path = `compare?${selection}&active=1&pixels=${pixels()}${term && '&q=' + encodeURIComponent(term)}`
  const { value: graph, error } = useApi<Comparison>(path)
  const picture = useMemo(() => graph && pictureOf(graph, 0, graph.total), [graph])
  if (error) return <p class="warn" role="alert">{error}; select another time or release</p>
  if (!graph || !picture) return <p class="note">Loading…</p>
  const describe = (n: Box) => {
    const change = n.delta === 0 ? 'equal in both' : `${share(Math.abs(n.delta), graph.after)} ${n.delta > 0 ? 'more' : 'less'} in ${second}`
    return `${n.kind === 'combined' ? plural(n.count, 'function') : n.name} · ${change}`
  }
  return (
    <>
      <div class="tools">
        <label class="search">Search <input type="search" value={search} placeholder="regular expression (/)" onInput={(e) => setSearch(e.currentTarget.value)} /></label>
        {swap && <a class="button" href={swap}>Swap</a>}
        <span class="legend"><span class="more">more in {second}</span><span class="less">less</span></span>
      </div>
      <p class="sum" data-total={graph.total}>
        First{first && <> (<bdi>{first}</bdi>)</>}: {weight(graph.before, graph.measure)} in {plural(graph.before_profiles, 'profile')}, scaled to the weight of the second.
        {' '}Second{first && <> (<bdi>{second}</bdi>)</>}: {weight(graph.after, graph.measure)} in {plural(graph.after_profiles, 'profile')}.
      </p>
      <Omitted from={graph} />
      <ZoomableChart path={path} q={q} whole={picture} describe={describe} coloring="delta" onSelect={() => undefined} />
      <Changes graph={graph} search={setSearch} />
    </>
  )
}
