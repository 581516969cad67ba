import type { LogRecord, Logs as Answer, Service } from './api'
import { AttributeTable } from './attributes'
import { clock, count, isToday, plural } from './format'
import { useApi, useTitle, type Route } from './hooks'
import { Bars, filter, Filters, listPath, Pager } from './list'
import { Omitted } from './omitted'
import { OperationChip } from './operations'

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal']

// Logs lists log records, the newest first.
export function Logs({ route: { query: q }, services }: { route: Route; services: Service[] }) {
  const { value, error } = useApi<Answer>(listPath('logs', q, { more: ['level', 'after', 'until', 'operation', 'kind'] }), 'logs')
  useTitle('Logs', q.get('service') ?? undefined)
  return (
    <>
      <h1>Logs</h1>
      <Filters q={q} placeholder="text, attribute" services={services.filter((s) => s.logs > 0)}>
        <label>Level{' '}
          <select value={q.get('level') ?? ''} onChange={(e) => filter({ level: e.currentTarget.value })}>
            <option value="">All</option>
            {levels.map((l) => <option key={l} value={l}>{l} or higher</option>)}
          </select>
        </label>
        <label>Order{' '}
          <select value={q.get('sort') ?? ''} onChange={(e) => filter({ sort: e.currentTarget.value })}>
            <option value="">Newest first</option>
            <option value="time">Oldest first</option>
            <option value="-severity">Most severe first</option>
          </select>
        </label>
        <OperationChip q={q} title="Show the records of all operations" />
        {(q.has('after') || q.has('until')) && <button type="button" onClick={() => filter({ after: undefined, until: undefined })}>Reset range</button>}
        {value && <output>{plural(value.count, 'record')}</output>}
      </Filters>
      {error && <p class="warn" role="alert">{error}</p>}
      {value && value.count > 1 && (
        <figure class="histogram">
          <Bars values={value.activity} label="Number of records over time" />
          <figcaption><time>{clock(value.first)}</time><span class="grow" /><time>{clock(value.last)}</time></figcaption>
        </figure>
      )}
      {value && (value.records.length === 0 ? <p class="note">{value.count === 0 && q.toString() === '' ? 'None yet.' : 'No record matches.'}</p> : <LogTable records={value.records} />)}
      {value && <Pager q={q} shown={value.records.length} all={value.count} />}
      {value && value.unread > 0 && <p class="note">{count(value.unread)} older records are not searched; select a service.</p>}
      {value && <Omitted from={value} />}
    </>
  )
}

export function LogTable({ records }: { records: LogRecord[] }) {
  return (
    <ul class={'records' + (records.some((r) => !isToday(r.time)) ? ' dated' : '')}>
      {records.map((r, i) => (
        <li key={r.time + (r.span ?? '') + i}>
          <details>
            <summary>
              <time>{clock(r.time, true)}</time>
              <span class={'severity ' + level(r.severity)}>{r.severity}</span>
              <bdi class="body">{r.body || '(empty)'}</bdi>
              <bdi class="from">{r.service}</bdi>
            </summary>
            {r.trace && <p><a href={`#/trace/${r.trace}?span=${r.span}`}>View trace</a></p>}
            <AttributeTable list={r.attributes} />
          </details>
        </li>
      ))}
    </ul>
  )
}

export function level(severity: string): string {
  if (/err|fatal|crit/i.test(severity)) return 'bad'
  return /warn/i.test(severity) ? 'middling' : ''
}
