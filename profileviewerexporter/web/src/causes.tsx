import { useState } from 'preact/hooks'
import type { Cause, MergedGraph } from './api'
import { place, plural, weight } from './format'
import { amend } from './hooks'
import { Amount, most } from './list'

const fewest = 5 // rows, until the user asks for all

const kinds: Record<Cause['kind'], string> = { function: 'runs', wait: 'waits', database: 'database', remote: 'HTTP, RPC' }

// Causes lists what takes the time of a service, the heaviest first: functions of the application, waits in spans, and calls.
export function Causes({ graph }: { graph: MergedGraph }) {
  const [all, setAll] = useState(false)
  const list = graph.causes ?? []
  if (list.length === 0) return null
  const hasSpans = list.some((c) => c.operation)
  const heaviest = most(list, (c) => c.weight)
  return (
    <section class="causes" aria-labelledby="causes">
      <h2 id="causes">What takes the time</h2>
      <table class="listing">
        <thead><tr><th scope="col" class="number">Time</th><th scope="col" class="name">Kind</th><th scope="col" class="text">What</th><th scope="col" class="name">In</th></tr></thead>
        <tbody>
          {list.slice(0, all ? list.length : fewest).map((c, i) => (
            <tr key={i}>
              <td class="number" data-title="Time">
                <Amount value={c.weight} most={heaviest}>
                  <span title={c.estimated ? 'Estimated from the spans during the profiles: no thread waits for the call' : plural(c.samples, 'sample')}>{c.estimated && '≈ '}{weight(c.weight, graph.measure)}</span>
                </Amount>
              </td>
              <td class="name" data-title="Kind"><span class={'kind ' + c.kind}>{kinds[c.kind]}</span></td>
              <td class="text" data-title="What"><What cause={c} /></td>
              <td class="name" data-title="In">{c.operation ? <bdi>{c.operation}</bdi> : hasSpans && c.number !== undefined && <small>outside of spans</small>}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {list.length > fewest && <button type="button" class="quiet wide" aria-pressed={all} onClick={() => setAll(!all)}>{all ? 'Show fewer' : `Show ${list.length}`}</button>}
    </section>
  )
}

function What({ cause: c }: { cause: Cause }) {
  if (c.number !== undefined) {
    return (
      <>
        <button type="button" class="link title" onClick={() => amend({ function: String(c.number) }, 'replace')}><bdi>{c.name}</bdi></button>{' '}
        {c.wait && c.wait !== c.name && <>in <bdi>{c.wait}</bdi>{' '}</>}
        {c.file && <small><bdi>{place(c.file, c.line)}</bdi></small>}
      </>
    )
  }
  return c.trace ? <a class="title" href={`#/trace/${c.trace}?span=${c.span}`} title="The slowest call"><bdi>{c.name}</bdi></a> : <bdi class="title">{c.name}</bdi>
}
