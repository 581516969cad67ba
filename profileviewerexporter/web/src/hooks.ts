import { useEffect, useState } from 'preact/hooks'
import { get } from './api'

export interface Loaded<T> { value?: T; error?: string; loading: boolean }

// useApi requests a path, and again whenever it changes. The old value remains until the response arrives.
export function useApi<T>(path: string | undefined): Loaded<T> {
  const [state, setState] = useState<Loaded<T> & { path?: string }>({ loading: true })
  useEffect(() => {
    if (path === undefined) return setState({ loading: false })
    const abort = new AbortController()
    setState((old) => ({ ...old, loading: true }))
    get<T>(path, abort.signal).then(
      (value) => setState({ value, path, loading: false }),
      (error: Error) => abort.signal.aborted || setState({ error: error.message, path, loading: false }),
    )
    return () => abort.abort()
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

const pollInterval = 2000

// useLive polls a path while the page is visible. An unchanged response (304) costs the exporter little and renders nothing.
export function useLive<T>(path: string): Loaded<T> & { offline: boolean } {
  const [state, setState] = useState<Loaded<T> & { offline: boolean }>({ loading: true, offline: false })
  useEffect(() => {
    let tag: string | null = null
    let timer = 0
    const abort = new AbortController()
    const ask = async () => {
      try {
        if (!document.hidden || tag === null) {
          const headers: HeadersInit = tag ? { 'If-None-Match': tag } : {}
          const response = await fetch('api/' + path, { headers, cache: 'no-store', signal: abort.signal })
          if (response.ok) {
            tag = response.headers.get('ETag')
            setState({ value: await response.json(), loading: false, offline: false })
          } else {
            setState((old) => (old.offline ? { ...old, offline: false } : old))
          }
        }
      } catch {
        if (abort.signal.aborted) return
        setState((old) => ({ ...old, loading: false, offline: true }))
      }
      timer = window.setTimeout(ask, pollInterval)
    }
    ask()
    const wake = () => { if (!document.hidden) { clearTimeout(timer); ask() } }
    document.addEventListener('visibilitychange', wake)
    return () => { abort.abort(); clearTimeout(timer); document.removeEventListener('visibilitychange', wake) }
  }, [path])
  return state
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
  const title = [...parts, 'Profiles'].filter(Boolean).join(' – ')
  useEffect(() => { document.title = title }, [title])
}
