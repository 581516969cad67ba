import { useEffect, useState } from 'preact/hooks'
import { getText } from './api'
import { onChange, type List } from './live'

export interface Loaded<T> { value?: T; error?: string; loading: boolean }

// useApi requests a path, again whenever it changes, and again whenever one of the lists changes. The old value remains until the
// response arrives; that of the same path also remains if the request fails.
export function useApi<T>(path: string | undefined, ...lists: List[]): Loaded<T> {
  const [state, setState] = useState<Loaded<T> & { path?: string }>({ loading: true })
  useEffect(() => {
    if (path === undefined) return setState({ loading: false })
    const abort = new AbortController()
    let running = false
    let again = false // a change during a request is loaded after it: steady changes do not delay the page
    let text: string | undefined
    const load = async () => {
      again = running
      if (running) return
      running = true
      setState((old) => (old.path === path ? old : { ...old, loading: true }))
      try {
        const loaded = await getText(path, abort.signal)
        if (loaded !== text) setState({ value: JSON.parse(loaded) as T, path, loading: false })
        text = loaded
      } catch (error) {
        if (abort.signal.aborted) return
        setState((old) => (old.path === path && old.value !== undefined ? old : { error: (error as Error).message, path, loading: false }))
      }
      running = false
      if (again) load()
    }
    load()
    const stop = onChange(lists, load)
    return () => { stop(); abort.abort() }
  }, [path])
  return state
}

const typing = 200 // milliseconds

// useDelayed returns a text once it has not changed for a moment.
export function useDelayed(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), typing)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

// useSearch returns a text that the user is typing, and the same text once it has settled. The address has the settled text.
export function useSearch(q: URLSearchParams, settle = (text: string) => amend({ q: text }, 'replace')) {
  const inAddress = q.get('q') ?? ''
  const [text, setText] = useState(inAddress)
  const settled = useDelayed(text)
  useEffect(() => { if (settled !== inAddress) settle(settled) }, [settled])
  useEffect(() => { if (settled === text) setText(inAddress) }, [inAddress]) // the back button
  return { text, setText, settled }
}

// Route is the fragment of the address: a path and a query.
export interface Route { path: string[]; query: URLSearchParams }

function current(): Route {
  const [path = '', search = ''] = location.hash.replace(/^#\/?/, '').split('?')
  return { path: path.split('/').filter(Boolean), query: new URLSearchParams(search) }
}

export function useRoute(): Route {
  const [route, setRoute] = useState(current)
  useEffect(() => {
    const change = () => setRoute(current())
    addEventListener('hashchange', change)
    return () => removeEventListener('hashchange', change)
  }, [])
  return route
}

// amend changes the query of the address. Views that a user may want to return to get an entry in the history; texts that are being
// typed do not.
export function amend(changes: Record<string, string | undefined>, entry: 'push' | 'replace' = 'push'): void {
  const { path, query } = current()
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined || value === '') query.delete(key)
    else query.set(key, value)
  }
  const search = query.toString()
  const address = `#/${path.join('/')}${search && '?' + search}`
  if (address === location.hash) return
  if (entry === 'push') history.pushState(null, '', address)
  else history.replaceState(null, '', address)
  dispatchEvent(new HashChangeEvent('hashchange'))
}

// useTitle sets the title of the browser's tab.
export function useTitle(...parts: (string | undefined)[]): void {
  const title = [...parts, 'otelcol-sentry'].filter(Boolean).join(' – ')
  useEffect(() => { document.title = title }, [title])
}
