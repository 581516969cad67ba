import { useMemo, useState } from 'preact/hooks'
import type { Comparison, Profile } from './api'
import { FlameChart } from './chart'
import { clock, share, weight } from './format'
import { useApi, type Route } from './hooks'
import { Omitted } from './omitted'
import { comparedTree, type FlameNode } from './tree'

// Compare shows two profiles in one graph: red functions weigh more in the second profile, blue functions weigh less.
export function Compare({ route }: { route: Route }) {
  const a = route.query.get('a') ?? ''
  const b = route.query.get('b') ?? ''
  const { value: graph, error } = useApi<Comparison>(`compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`)
  const [search, setSearch] = useState('')
  const tree = useMemo(() => graph && comparedTree(graph), [graph])
  if (error) return <p class="warn" role="alert">{error}</p>
  if (!graph || !tree) return <p class="note">Loading…</p>
  const describe = (n: FlameNode) => {
    const delta = n.delta ?? 0
    const change = delta === 0 ? 'equal in both' : `${share(Math.abs(delta), graph.after)} ${delta > 0 ? 'more' : 'less'} in the second profile`
    return `${n.name} · ${change}`
  }
  return (
    <>
      <h1>Profile comparison</h1>
      <div class="columns">
        <Side title="First" id={a} total={weight(graph.before, graph.measure)} />
        <Side title="Second" id={b} total={weight(graph.after, graph.measure)} />
      </div>
      <div class="tools">
        <label class="search">Search <input type="search" value={search} onInput={(e) => setSearch(e.currentTarget.value)} /></label>
        <a class="button" href={`#/compare?a=${b}&b=${a}`}>Swap</a>
        <span class="legend"><span class="more">more in the second profile</span><span class="less">less</span></span>
      </div>
      <p class="sum">The first profile is scaled to the total of the second.
        {graph.hidden && ' Functions below 0.1 % are hidden.'}</p>
      <Omitted from={graph} />
      <FlameChart root={tree} describe={describe} colouring="delta" search={search} onSelect={() => undefined} />
    </>
  )
}

function Side({ title, id, total }: { title: string; id: string; total: string }) {
  const { value: p } = useApi<Profile>('profiles/' + id)
  return (
    <p class="meta">
      <strong>{title}</strong>
      <a href={'#/profile/' + id}><bdi>{p ? p.name || p.service : 'profile ' + id}</bdi></a>
      {p && <time>{clock(p.start)}</time>}
      <span>{total}</span>
    </p>
  )
}
