import { useMemo, useState } from 'preact/hooks'
import type { Comparison, Profile } from './api'
import { pictureOf, type Box } from './boxes'
import { FlameChart } from './chart'
import { pixels, useDetail } from './detail'
import { clock, plural, share, weight } from './format'
import { useApi, useDelayed, useTitle, type Route } from './hooks'
import { Omitted } from './omitted'
import type { View } from './paint'
import { useView } from './view'

// Compare shows two profiles in one graph: red functions weigh more in the second profile, blue functions weigh less.
export function Compare({ route }: { route: Route }) {
  const a = route.query.get('a') ?? ''
  const b = route.query.get('b') ?? ''
  const [search, setSearch] = useState('')
  const term = useDelayed(search)
  const path = `compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}&pixels=${pixels()}${term && '&q=' + encodeURIComponent(term)}`
  const { value: graph, error } = useApi<Comparison>(path)
  const all = useMemo((): View | undefined => graph && { left: 0, right: graph.total }, [graph])
  const picture = useMemo(() => graph && all && pictureOf(graph, all.left, all.right), [graph, all])
  const { view, onView } = useView(route.query)
  const detail = useDetail(path, view, all)
  useTitle('Comparison')
  if (error) return <p class="warn" role="alert">{error}</p>
  if (!graph || !picture) return <p class="note">Loading…</p>
  const describe = (n: Box) => {
    const change = n.delta === 0 ? 'equal in both' : `${share(Math.abs(n.delta), graph.after)} ${n.delta > 0 ? 'more' : 'less'} in the second profile`
    return `${n.kind === 'combined' ? plural(n.count, 'function') : n.name} · ${change}`
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
      <p class="sum">The first profile is scaled to the total of the second.</p>
      <Omitted from={graph} />
      <FlameChart whole={picture} detail={detail} view={view} onView={onView} describe={describe} colouring="delta" onSelect={() => undefined} />
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
