import { useState } from 'preact/hooks'
import type { ChangedFunction, Comparison } from './api'
import { count, share } from './format'
import { literal } from './search'

type Column = 'self' | 'total'

const before = (f: ChangedFunction, c: Column): number => (c === 'self' ? f.before_self : f.before_total)
const after = (f: ChangedFunction, c: Column): number => (c === 'self' ? f.after_self : f.after_total)
const samples = (f: ChangedFunction, c: Column): [before: number, after: number] =>
  (c === 'self' ? [f.before_self_samples, f.after_self_samples] : [f.before_total_samples, f.after_total_samples])
const mostRows = 50

// Changes lists the functions whose weight has changed the most, without those whose difference chance explains. A click searches for the function in the graph.
export function Changes({ graph, search }: { graph: Comparison; search: (pattern: string) => void }) {
  const [column, setColumn] = useState<Column>('self')
  const change = (f: ChangedFunction) => after(f, column) - before(f, column)
  const list = (graph.changes ?? []).filter((f) => change(f) !== 0 && !(column === 'self' ? f.self_chance : f.total_chance)).sort((a, b) => Math.abs(change(b)) - Math.abs(change(a)))
  const most = list.length > 0 ? Math.abs(change(list[0]!)) : 0
  const cell = (weight: number, n: number) => <>{share(weight, graph.after)} <small>{count(n)}</small></>
  return (
    <section class="panel changed">
      <h2 id="changed">Changed functions <small>{list.length}</small></h2>
      <div class="choice" role="group" aria-label="Weight">
        {(['self', 'total'] as const).map((c) => <button key={c} type="button" aria-pressed={column === c} onClick={() => setColumn(c)}>{c === 'self' ? 'Self' : 'Total'}</button>)}
      </div>
      {list.length === 0 && <p class="note">Chance explains all differences.</p>}
      {list.length > 0 && <div class="scroll" tabIndex={0} role="region" aria-labelledby="changed">
        <table class="listing">
          <thead><tr><th scope="col" class="number">Change</th><th scope="col" class="number">First, samples</th><th scope="col" class="number">Second, samples</th><th scope="col" class="text">Function</th></tr></thead>
          <tbody>
            {list.slice(0, mostRows).map((f) => (
              <tr key={f.number}>
                <td class="number" data-title="Change">
                  <span class={'portion ' + (change(f) > 0 ? 'more' : 'less')} style={{ width: `${(100 * Math.abs(change(f))) / most}%` }} />
                  {change(f) > 0 ? '+' : '−'}{share(Math.abs(change(f)), graph.after)}
                </td>
                <td class="number" data-title="First, samples">{cell(before(f, column), samples(f, column)[0])}</td>
                <td class="number" data-title="Second, samples">{cell(after(f, column), samples(f, column)[1])}</td>
                <td class="text" data-title="Function"><button type="button" class="link" onClick={() => search('^' + literal(f.name) + '$')}><bdi>{f.name}</bdi></button> {f.file && <small><bdi>{f.file}</bdi></small>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>}
      {list.length > mostRows && <p class="note">Only the first {mostRows} are listed.</p>}
    </section>
  )
}
