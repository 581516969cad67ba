import { useEffect, useRef, useState } from 'preact/hooks'
import type { Imported } from './api'
import { count, plural } from './format'

interface Result { name: string; value?: Imported; error?: string }

// Import imports files that the user drops on the page or selects, one after the other, and lists the results.
export function Import() {
  const [results, setResults] = useState<Result[]>([])
  const [waiting, setWaiting] = useState(0)
  const [over, setOver] = useState(false)
  const queue = useRef(Promise.resolve())
  const input = useRef<HTMLInputElement>(null)
  const add = (files: Iterable<File>) => {
    for (const file of files) {
      setWaiting((n) => n + 1)
      queue.current = queue.current.then(() => send(file)).then((result) => {
        setResults((old) => [...old, result].slice(-shownResults))
        setWaiting((n) => n - 1)
      })
    }
  }
  useDrop(add, setOver)
  return (
    <section class="import" aria-label="Import">
      <p class="note">
        <button type="button" class="quiet" onClick={() => input.current?.click()}>Import files…</button>{' '}
        or drop them on the page: pprof, speedscope, collapsed stacks, .cpuprofile, Firefox Profiler, Sentry envelopes, OTLP
      </p>
      <input type="file" multiple hidden ref={input} aria-label="Files to import"
        onChange={(e) => { add([...e.currentTarget.files ?? []]); e.currentTarget.value = '' }} />
      <div role="status">
        {waiting > 0 && <p class="note">Importing {plural(waiting, 'file')}…</p>}
        {results.length > 0 && <ul class="records">{results.map((r, i) => <li key={i}><ResultRow result={r} /></li>)}</ul>}
      </div>
      {over && <div class="dropping" aria-hidden="true">Drop files to import them</div>}
    </section>
  )
}

const shownResults = 20

function ResultRow({ result: { name, value, error } }: { result: Result }) {
  return (
    <div class="imported">
      <bdi>{name}</bdi>{' '}
      {error && <span class="bad">{error}</span>}
      {value && <span>{value.format}: {plural(value.profiles, 'profile')}, {plural(value.spans, 'span')}, {plural(value.logs, 'log')}, {plural(value.points, 'data point')} <a href="#/?profiles-sort=-arrived&traces-sort=-arrived">Show the latest imports</a></span>}
      {value && value.losses.length > 0 && (
        <ul class="losses">{value.losses.map((l) => <li key={l.what}>lost: {count(l.count)} <bdi>{l.what}</bdi></li>)}</ul>
      )}
    </div>
  )
}

async function send(file: File): Promise<Result> {
  try {
    const response = await fetch('api/import?name=' + encodeURIComponent(file.name), { method: 'POST', body: file })
    const body = await response.json()
    return response.ok ? { name: file.name, value: body } : { name: file.name, error: body.error ?? response.statusText }
  } catch {
    return { name: file.name, error: 'Cannot connect to the collector' }
  }
}

// useDrop calls add with the files that are dropped anywhere on the page. over is true while the user drags files.
function useDrop(add: (files: Iterable<File>) => void, over: (dragging: boolean) => void): void {
  const latest = useRef(add)
  latest.current = add
  useEffect(() => {
    const events = new AbortController()
    const on = (type: 'dragover' | 'dragleave' | 'drop', act: (event: DragEvent) => void) =>
      addEventListener(type, (event) => { if (event.dataTransfer?.types.includes('Files')) act(event) }, { signal: events.signal })
    on('dragover', (event) => { event.preventDefault(); over(true) })
    on('dragleave', (event) => { if (event.relatedTarget === null) over(false) })
    on('drop', (event) => { event.preventDefault(); over(false); latest.current([...event.dataTransfer!.files]) })
    return () => events.abort()
  }, [])
}
