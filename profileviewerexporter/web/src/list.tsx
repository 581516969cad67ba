import type { ComponentChildren } from 'preact'
import type { Service } from './api'
import { count } from './format'
import { amend, useSearch } from './hooks'

// pageSize is the number of entries of a page of a list; see internal/listing.
export const pageSize = 200

// listPath is the request for the page of a list that the query of the address selects. A view with several lists gives each a name:
// its sort order and its offset are in the address under keys with that name.
export function listPath(endpoint: string, q: URLSearchParams, { name = '', more = [], sort }: { name?: string; more?: string[]; sort?: string } = {}): string {
  const wanted = new URLSearchParams()
  for (const key of ['service', 'q', ...more]) copy(q.get(key), wanted, key)
  copy(q.get(name + 'sort') ?? sort ?? null, wanted, 'sort')
  copy(q.get(name + 'offset'), wanted, 'offset')
  const text = wanted.toString()
  return endpoint + (text && '?' + text)
}

function copy(value: string | null, to: URLSearchParams, key: string): void {
  if (value) to.set(key, value)
}

// filter changes the entries that lists have, and shows their first pages.
export function filter(changes: Record<string, string | undefined>, names: string[] = [''], entry?: 'push' | 'replace'): void {
  amend({ ...changes, ...Object.fromEntries(names.map((name) => [name + 'offset', undefined])) }, entry)
}

// Column is a column of a table. Lists are sorted by the columns that have a key.
export interface Column<T> {
  title: string
  key?: string
  cell: (row: T) => ComponentChildren
  kind?: 'number' | 'text' | 'name' | 'trend' | 'control' // of the content; text takes the remaining width, controls need no visible title
}

// Table is a list as a table. sort is the column by which the list is sorted, after a minus sign in descending order.
export function Table<T>({ label, rows, columns, sort, id, name = '' }: {
  label: string; rows: T[]; columns: Column<T>[]; sort: string; id: (row: T) => string; name?: string
}) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table class="listing">
        <thead><tr>{columns.map((c) => <Header key={c.title} column={c} sort={sort} name={name} />)}</tr></thead>
        <tbody>{rows.map((row) => <tr key={id(row)}>{columns.map((c) => <td key={c.title} class={c.kind} data-title={c.title}>{c.cell(row)}</td>)}</tr>)}</tbody>
      </table>
    </div>
  )
}

function Header<T>({ column: { title, key, kind }, sort, name }: { column: Column<T>; sort: string; name: string }) {
  if (key === undefined) return <th scope="col" class={kind}>{kind === 'control' ? <span class="hidden">{title}</span> : title}</th>
  const direction = sort === key ? 'ascending' : sort === '-' + key ? 'descending' : 'none'
  const next = direction === 'descending' || (direction === 'none' && kind === 'text') ? key : '-' + key
  return (
    <th scope="col" class={kind} aria-sort={direction}>
      <button type="button" onClick={() => amend({ [name + 'sort']: next, [name + 'offset']: undefined })}>
        {title}{direction !== 'none' && <span aria-hidden="true">{direction === 'descending' ? ' ▾' : ' ▴'}</span>}
      </button>
    </th>
  )
}

// Filters are the controls above a list: the text to search for, a service, and those of the list.
export function Filters({ q, placeholder, services, names, children }: {
  q: URLSearchParams; placeholder: string; services?: Service[]; names?: string[]; children?: ComponentChildren
}) {
  const chosen = q.get('service') ?? ''
  return (
    <div class="tools" role="search">
      <SearchBox q={q} placeholder={placeholder} names={names} />
      {services && (
        <label>Service{' '}
          <select value={chosen} onChange={(e) => filter({ service: e.currentTarget.value, operation: undefined, kind: undefined }, names)}>
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

function SearchBox({ q, placeholder, names }: { q: URLSearchParams; placeholder: string; names?: string[] }) {
  const { text, setText } = useSearch(q, (settled) => filter({ q: settled }, names, 'replace'))
  return (
    <label class="search">Search{' '}
      <input type="search" value={text} placeholder={placeholder} onInput={(e) => setText(e.currentTarget.value)} />
    </label>
  )
}

// Pager moves between the pages of a list.
export function Pager({ q, shown, all, name = '' }: { q: URLSearchParams; shown: number; all: number; name?: string }) {
  const offset = Number(q.get(name + 'offset') ?? 0)
  if (offset === 0 && shown >= all) return null
  const move = (to: number) => () => { amend({ [name + 'offset']: to > 0 ? String(to) : undefined }); scrollTo(0, 0) }
  return (
    <nav class="pager" aria-label="Pages">
      <button type="button" class="quiet" disabled={offset === 0} onClick={move(offset - pageSize)}>Previous</button>
      <span>{shown === 0 ? 'None' : `${count(offset + 1)} to ${count(offset + shown)}`} of {count(all)}</span>
      <button type="button" class="quiet" disabled={offset + shown >= all} onClick={move(offset + pageSize)}>Next</button>
    </nav>
  )
}

// Amount is a number with a bar that shows its share of the largest number in the list.
export function Amount({ value, most, children }: { value: number; most: number; children: ComponentChildren }) {
  return <span class="amount"><span class="portion" style={{ width: `${most > 0 ? (100 * value) / most : 0}%` }} />{children}</span>
}

// most returns the largest value of a list.
export const most = <T,>(list: T[], value: (entry: T) => number): number => list.reduce((largest, entry) => Math.max(largest, value(entry)), 0)

// Bars is a small chart of numbers in equal steps of time.
export function Bars({ values, label }: { values: number[]; label: string }) {
  const most = Math.max(1, ...values)
  const outline = values.map((v, i) => (v > 0 ? `M${i},20V${20 - Math.max(1.5, (20 * v) / most)}h0.8V20Z` : '')).join('')
  return <svg class="bars" viewBox={`0 0 ${values.length} 20`} preserveAspectRatio="none" role="img" aria-label={label}><path d={outline} /></svg>
}
