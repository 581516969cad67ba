import { useState } from 'preact/hooks'
import type { MergedGraph } from './api'
import { share, weight } from './format'
import { matcher } from './search'

type Column = 'self' | 'total'

// mostRows is the number of rows of the table; the search finds the other functions.
const mostRows = 50

// Functions is the table of functions, sorted by self or total weight.
export function Functions({ graph, search, selected, onSelect }: {
  graph: MergedGraph; search: string; selected?: number; onSelect: (frame: number) => void
}) {
  const [column, setColumn] = useState<Column>('self')
  const top = graph.top ?? []
  const matches = matcher(search)
  const list = top
    .filter((f) => search === '' || matches(f))
    .sort((a, b) => b[column] - a[column])
  const header = (c: Column, text: string) => (
    <th scope="col" aria-sort={column === c ? 'descending' : 'none'}>
      <button type="button" onClick={() => setColumn(c)}>{text}{column === c && ' ▾'}</button>
    </th>
  )
  return (
    <section class="functions" aria-labelledby="functions">
      <h2 id="functions">Functions <small>{list.length}{top.length === 200 && '+'}</small></h2>
      <table>
        <thead><tr>{header('self', 'Self')}{header('total', 'Total')}<th scope="col">Function</th></tr></thead>
        <tbody>
          {list.slice(0, mostRows).map((f) => (
            <tr key={f.number} aria-selected={selected === f.number} class={selected === f.number ? 'selected' : undefined}>
              <td title={weight(f.self, graph.measure)}><Bar part={f.self} whole={graph.total} />{share(f.self, graph.total)}</td>
              <td title={weight(f.total, graph.measure)}>{share(f.total, graph.total)}</td>
              <td class="name">
                <button type="button" class="link" onClick={() => onSelect(f.number)}><bdi>{f.name}</bdi></button>
                {f.file && <small><bdi>{f.file}</bdi></small>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {list.length > mostRows && <p class="note">Only the first {mostRows} are listed; use the search to find others.</p>}
    </section>
  )
}

function Bar({ part, whole }: { part: number; whole: number }) {
  return <span class="portion" style={{ width: `${whole > 0 ? (100 * part) / whole : 0}%` }} />
}
