import { query, type Measure, type Selection, type Thread } from './api'
import type { Coloring } from './colors'
import { count, weight } from './format'
import { amend } from './hooks'
import { orders, unzoomed, type Order } from './order'

interface Props {
  selection: Selection
  order: Order
  threads: Thread[]
  thread?: string
  measure: Measure
  idle: boolean
  waiting?: boolean // undefined: no thread waits
  linked?: boolean // undefined: no sample has a span, or all have
  collapse: boolean
  raw: boolean
  symbolicated: boolean
  search: string
  found?: number // share of the graph that the search matches
  hit?: number // index of the match that the graph shows
  hits: number
  onHit: (step: 1 | -1) => void
  onSearch: (text: string) => void
  coloring: Coloring
  onColoring: (coloring: Coloring) => void
}

// Toolbar has the controls of a flame graph and its downloads.
export function Toolbar({ selection, order, threads, thread, measure, idle, waiting, linked, collapse, raw, symbolicated, search, found, hit, hits, onHit, onSearch, coloring, onColoring }: Props) {
  const byTime = order === 'time'
  return (
    <div class="tools" role="toolbar" aria-label="Graph controls">
      <div class="choice" role="group" aria-label="Order">
        {orders.map(([value, text, title]) => (
          <button key={value} type="button" aria-pressed={order === value} title={title}
            onClick={() => amend({ order: value === 'merged' ? undefined : value, ...unzoomed })}>{text}</button>
        ))}
      </div>
      <label>Thread{' '}
        <select value={thread ?? ''} onChange={(e) => amend(chosen(e.currentTarget.value))}>
          {!byTime && <option value="">All ({threads.length})</option>}
          {threads.map((t) => <option key={t.id} value={t.id}>{threadText(t)} – {weight(t.busy, measure)}</option>)}
        </select>
      </label>
      <label class="search">Search{' '}
        <input type="search" value={search} placeholder="regular expression (/)"
          onKeyDown={(e) => { if (e.key === 'Enter') onHit(e.shiftKey ? -1 : 1) }}
          onInput={(e) => onSearch(e.currentTarget.value)} />
      </label>
      {search && found !== undefined && (
        <span class="hits">
          <button type="button" aria-label="Previous match" title="Shift + Enter" disabled={hits === 0} onClick={() => onHit(-1)}>‹</button>
          <button type="button" aria-label="Next match" title="Enter" disabled={hits === 0} onClick={() => onHit(1)}>›</button>
          <output class="found">{hit !== undefined && `${count(hit + 1)} of `}{count(hits)}; {(100 * found).toFixed(1)}% of the graph</output>
        </span>
      )}
      <label class="check">
        <input type="checkbox" checked={coloring === 'own'} onChange={(e) => onColoring(e.currentTarget.checked ? 'own' : 'code')} />
        {' '}Highlight application
      </label>
      <label class="check" title="Of the calls into a library, show only the first">
        <input type="checkbox" checked={collapse} onChange={(e) => amend({ collapse: e.currentTarget.checked ? '1' : undefined, ...unzoomed })} />
        {' '}Collapse libraries
      </label>
      {waiting !== undefined && (
        <label class="check" title="Threads that wait in a lock, a sleep or for the network, while no span runs on them">
          <input type="checkbox" checked={waiting} onChange={(e) => amend({ waiting: e.currentTarget.checked ? '1' : undefined, ...unzoomed })} />
          {' '}Waiting threads
        </label>
      )}
      {linked !== undefined && (
        <label class="check" title="Samples that were taken while a span ran on the thread">
          <input type="checkbox" checked={linked} onChange={(e) => amend({ linked: e.currentTarget.checked ? '1' : undefined, ...unzoomed })} />
          {' '}Only in spans
        </label>
      )}
      {symbolicated && (
        <label class="check" title="Names and positions as the profiler reported them, before symbolication">
          <input type="checkbox" checked={raw} onChange={(e) => amend({ raw: e.currentTarget.checked ? '1' : undefined, ...renumbered })} />
          {' '}Raw names
        </label>
      )}
      {order === 'merged' && (
        <label class="check">
          <input type="checkbox" checked={idle} onChange={(e) => amend({ idle: e.currentTarget.checked ? '1' : undefined, ...unzoomed })} /> Idle time
        </label>
      )}
      <Downloads selection={selection} />
    </div>
  )
}

// renumbered clears the parts of the address that have numbers of functions, which depend on their names.
const renumbered = { ...unzoomed, function: undefined, focus: undefined, hide: undefined, fold: undefined }

// chosen is the change of the address for a thread, or for all threads.
function chosen(thread: string): Record<string, string | undefined> {
  return { thread, threads: thread === '' ? 'all' : undefined, ...unzoomed }
}

function threadText(t: { id: string; name: string }): string {
  if (t.id === '') return 'no thread'
  return t.name && t.name !== t.id ? `${t.name} (${t.id})` : t.id
}

const formats = [
  ['pprof', 'pprof'], ['speedscope', 'speedscope'], ['firefox', 'Firefox Profiler'], ['collapsed', 'Collapsed stacks'], ['otlp', 'OTLP JSON, with all attributes'],
]

// Downloads saves the visible samples.
function Downloads({ selection }: { selection: Selection }) {
  const q = query(selection)
  const scope = `speedscope/index.html#profileURL=${encodeURIComponent('../api/download/speedscope?' + q)}`
  return (
    <details class="downloads">
      <summary class="button">Save or open</summary>
      <ul>
        <li><a class="scope" href={scope} target="_blank" rel="noopener">Open in speedscope ↗</a></li>
        {formats.map(([format, text]) => <li key={format}><a href={`api/download/${format}?${q}`} download>{text}</a></li>)}
      </ul>
    </details>
  )
}
