import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Service } from './api'
import { count } from './format'
import { amend, useDelayed } from './hooks'

// pageSize is the number of entries of a page of a list; see internal/listing.
export const pageSize = 200

// listPath is the request for the page of a list that the query of the address selects.
export function listPath(endpoint: string, q: URLSearchParams, ...more: string[]): string {
  const wanted = new URLSearchParams()
  for (const key of ['service', 'q', 'sort', 'offset', ...more]) {
    const value = q.get(key)
    if (value) wanted.set(key, value)
  }
  const text = wanted.toString()
  return endpoint + (text && '?' + text)
}

// Column is a column of a table. Lists are sorted by the columns that have a key.
export interface Column<T> {
  title: string
  key?: string
  cell: (row: T) => ComponentChildren
  kind?: 'number' | 'text' // of the content; text takes the remaining width
}

// Table is a list as a table. sort is the column by which the list is sorted, after a minus sign in descending order.
export function Table<T>({ label, rows, columns, sort, id }: {
  label: string; rows: T[]; columns: Column<T>[]; sort: string; id: (row: T) => string
}) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table class="listing">
        <thead><tr>{columns.map((c) => <Header key={c.title} column={c} sort={sort} />)}</tr></thead>
        <tbody>{rows.map((row) => <tr key={id(row)}>{columns.map((c) => <td key={c.title} class={c.kind} data-title={c.title}>{c.cell(row)}</td>)}</tr>)}</tbody>
      </table>
    </div>
  )
}

function Header<T>({ column: { title, key, kind }, sort }: { column: Column<T>; sort: string }) {
  if (key === undefined) return <th scope="col" class={kind}>{title}</th>
  const direction = sort === key ? 'ascending' : sort === '-' + key ? 'descending' : 'none'
  const next = direction === 'descending' || (direction === 'none' && kind === 'text') ? key : '-' + key
  return (
    <th scope="col" class={kind} aria-sort={direction}>
      <button type="button" onClick={() => amend({ sort: next, offset: undefined })}>
        {title}{direction !== 'none' && <span aria-hidden="true">{direction === 'descending' ? ' ▾' : ' ▴'}</span>}
      </button>
    </th>
  )
}

// Filters are the controls above a list: the text to search for, a service, and those of the list.
export function Filters({ q, placeholder, services, children }: {
  q: URLSearchParams; placeholder: string; services?: Service[]; children?: ComponentChildren
}) {
  const chosen = q.get('service') ?? ''
  return (
    <div class="tools" role="search">
      <SearchBox q={q} placeholder={placeholder} />
      {services && (
        <label>Service{' '}
          <select value={chosen} onChange={(e) => amend({ service: e.currentTarget.value, offset: undefined })}>
            <option value="">All ({services.length})</option>
            {services.map((s) => <option key={s.name} value={s.name}>{s.name}</option>)}
            {chosen && !services.some((s) => s.name === chosen) && <option value={chosen}>{chosen}</option>}
          </select>
        </label>
      )}
      {children}
    </div>
  )
}

function SearchBox({ q, placeholder }: { q: URLSearchParams; placeholder: string }) {
  const inAddress = q.get('q') ?? ''
  const [text, setText] = useState(inAddress)
  const settled = useDelayed(text)
  useEffect(() => { if (settled !== inAddress) amend({ q: settled, offset: undefined }, 'replace') }, [settled])
  useEffect(() => { if (settled === text) setText(inAddress) }, [inAddress]) // the back button
  return (
    <label class="search">Search{' '}
      <input type="search" value={text} placeholder={placeholder} onInput={(e) => setText(e.currentTarget.value)} />
    </label>
  )
}

// Pager moves between the pages of a list.
export function Pager({ q, shown, all }: { q: URLSearchParams; shown: number; all: number }) {
  const offset = Number(q.get('offset') ?? 0)
  if (offset === 0 && shown >= all) return null
  const move = (to: number) => () => { amend({ offset: to > 0 ? String(to) : undefined }); scrollTo(0, 0) }
  return (
    <nav class="pager" aria-label="Pages">
      <button type="button" class="quiet" disabled={offset === 0} onClick={move(offset - pageSize)}>Previous</button>
      <span>{shown === 0 ? 'None' : `${count(offset + 1)} to ${count(offset + shown)}`} of {count(all)}</span>
      <button type="button" class="quiet" disabled={offset + shown >= all} onClick={move(offset + pageSize)}>Next</button>
    </nav>
  )
}

// Bars is a small chart of numbers in equal steps of time.
export function Bars({ values, label }: { values: number[]; label: string }) {
  const most = Math.max(1, ...values)
  const outline = values.map((v, i) => (v > 0 ? `M${i},20V${20 - Math.max(1.5, (20 * v) / most)}h0.8V20Z` : '')).join('')
  return <svg class="bars" viewBox={`0 0 ${values.length} 20`} preserveAspectRatio="none" role="img" aria-label={label}><path d={outline} /></svg>
}
