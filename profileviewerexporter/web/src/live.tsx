import { useEffect, useState } from 'preact/hooks'

// List is a list of the store that the exporter reports changes of.
export type List = 'profiles' | 'traces' | 'logs' | 'metrics' | 'notices'

interface Changes { run: string; lists: Partial<Record<string, number>> }

// Live is the state of the live updates.
export interface Live {
  paused: boolean
  waiting: boolean // changes wait for the end of the pause
  offline: boolean
}

let latest: Changes | undefined // at the exporter
let shown: Changes | undefined // on the page
let live: Live = { paused: false, waiting: false, offline: false }
let source: EventSource | undefined

const states = new Set<() => void>()
const loaders = new Map<() => void, List[]>()

const retry = 2000 // milliseconds

// connect opens the stream of changes. Hidden pages have none: a browser allows few connections to one host.
function connect(): void {
  source?.close()
  source = undefined
  if (document.hidden) return
  source = new EventSource('api/changes')
  source.onopen = () => update({ offline: false })
  source.onmessage = (event: MessageEvent<string>) => {
    latest = JSON.parse(event.data) as Changes
    if (live.paused) update({ waiting: changed(Object.keys(latest.lists)) })
    else show()
  }
  source.onerror = () => {
    update({ offline: true })
    if (source?.readyState === EventSource.CLOSED) setTimeout(connect, retry)
  }
}

// changed reports whether one of the lists may differ from the one on the page.
function changed(lists: string[]): boolean {
  const known = shown
  if (!known) return lists.length > 0 // the first notice: lists may have changed since their requests
  return known.run !== latest?.run || lists.some((l) => known.lists[l] !== latest?.lists[l])
}

// show loads the lists that have changed.
function show(): void {
  const load = [...loaders].filter(([, lists]) => changed(lists)).map(([loader]) => loader)
  shown = latest
  load.forEach((loader) => loader())
}

function update(change: Partial<Live>): void {
  live = { ...live, ...change }
  states.forEach((render) => render())
}

// onChange calls load whenever one of the lists changes, and returns the function that ends this.
export function onChange(lists: List[], load: () => void): () => void {
  loaders.set(load, lists)
  return () => { loaders.delete(load) }
}

export function useLive(): Live {
  const [state, setState] = useState(live)
  useEffect(() => {
    const render = () => setState(live)
    states.add(render)
    render()
    return () => { states.delete(render) }
  }, [])
  return state
}

function pause(paused: boolean): void {
  update({ paused, waiting: false })
  if (!paused) show()
}

async function clear(): Promise<void> {
  if (!confirm('Delete all stored data?')) return
  await fetch('api/clear', { method: 'POST' }).catch(() => undefined) // the header states if the collector cannot be reached
  location.hash = '#/'
}

// LiveButtons pause the live updates and clear the store.
export function LiveButtons() {
  const { paused, waiting } = useLive()
  const text = paused ? 'Resume live updates' : 'Pause live updates'
  return (
    <span class="live">
      <button type="button" class="quiet" title={text + (waiting ? ': there is new data' : '')} onClick={() => pause(!paused)}>
        <span aria-hidden="true">{paused ? '▶' : '❚❚'}<span class="caption"> {paused ? 'Resume' : 'Pause'}</span></span>
        {waiting && <span class="dot" />}<span class="hidden">{text}{waiting && ', there is new data'}</span>
      </button>
      <button type="button" class="quiet" title="Delete all stored data" onClick={clear}><span aria-hidden="true">✕<span class="caption"> Clear</span></span><span class="hidden">Delete all stored data</span></button>
    </span>
  )
}

document.addEventListener('visibilitychange', connect)
connect()
