import { useState } from 'preact/hooks'
import type { ChangedFunction, Comparison } from './api'
import { share } from './format'
import { literal } from './search'

type Column = 'self' | 'total'

const before = (f: ChangedFunction, c: Column): number => (c === 'self' ? f.before_self : f.before_total)
const after = (f: ChangedFunction, c: Column): number => (c === 'self' ? f.after_self : f.after_total)
const mostRows = 50

// Changes lists the functions whose weight has changed the most. A click searches for the function in the graph.
export function Changes({ graph, search }: { graph: Comparison; search: (pattern: string) => void }) {
  const [column, setColumn] = useState<Column>('self')
  const change = (f: ChangedFunction) => after(f, column) - before(f, column)
  const list = (graph.changes ?? []).filter((f) => change(f) !== 0).sort((a, b) => Math.abs(change(b)) - Math.abs(change(a)))
  if (list.length === 0) return <p class="note">All functions have equal shares.</p>
  const most = Math.abs(change(list[0]!))
  return (
    <section class="panel changed">
      <h2 id="changed">Changed functions <small>{list.length}</small></h2>
      <div class="choice" role="group" aria-label="Weight">
        {(['self', 'total'] as const).map((c) => <button key={c} type="button" aria-pressed={column === c} onClick={() => setColumn(c)}>{c === 'self' ? 'Self' : 'Total'}</button>)}
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-labelledby="changed">
        <table class="listing">
          <thead><tr><th scope="col" class="number">Change</th><th scope="col" class="number">First</th><th scope="col" class="number">Second</th><th scope="col" class="text">Function</th></tr></thead>
          <tbody>
            {list.slice(0, mostRows).map((f) => (
              <tr key={f.number}>
                <td class="number" data-title="Change">
                  <span class={'portion ' + (change(f) > 0 ? 'more' : 'less')} style={{ width: `${(100 * Math.abs(change(f))) / most}%` }} />
                  {change(f) > 0 ? '+' : '−'}{share(Math.abs(change(f)), graph.after)}
                </td>
                <td class="number" data-title="First">{share(before(f, column), graph.after)}</td>
                <td class="number" data-title="Second">{share(after(f, column), graph.after)}</td>
                <td class="text" data-title="Function"><button type="button" class="link" onClick={() => search('^' + literal(f.name) + '$')}><bdi>{f.name}</bdi></button> {f.file && <small><bdi>{f.file}</bdi></small>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {list.length > mostRows && <p class="note">Only the first {mostRows} are listed.</p>}
    </section>
  )
}
