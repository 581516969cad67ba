import type { LogRecord, Logs as Answer, Service } from './api'
import { AttributeTable } from './attributes'
import { clock, count } from './format'
import { useApi, useTitle, type Route } from './hooks'
import { Omitted } from './omitted'

// Logs lists the latest log records.
export function Logs({ route, services }: { route: Route; services: Service[] }) {
  const service = route.query.get('service') ?? ''
  const { value, error } = useApi<Answer>('logs' + (service && '?service=' + encodeURIComponent(service)), 'logs')
  useTitle('Logs', service)
  const named = services.filter((s) => s.logs > 0)
  return (
    <>
      <h1>Logs</h1>
      <nav class="chips" aria-label="Services">
        <a class="chip" href="#/logs" aria-current={service === '' ? 'true' : undefined}>All services</a>
        {named.map((s) => (
          <a class="chip" href={'#/logs?service=' + encodeURIComponent(s.name)} aria-current={service === s.name ? 'true' : undefined}>
            <bdi>{s.name}</bdi> <small>{s.logs}</small>
          </a>
        ))}
      </nav>
      {error && <p class="warn">{error}</p>}
      {value && (value.records.length === 0 ? <p class="note">None yet.</p> : <LogTable records={value.records} />)}
      {value && value.records.length < value.count && <p class="note">Showing the latest {count(value.records.length)} of {count(value.count)}.</p>}
      {value && <Omitted from={value} />}
    </>
  )
}

export function LogTable({ records }: { records: LogRecord[] }) {
  return (
    <ul class="records">
      {records.map((r, i) => (
        <li key={i}>
          <details>
            <summary>
              <time>{clock(r.time)}</time>
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

function level(severity: string): string {
  if (/err|fatal|crit/i.test(severity)) return 'bad'
  return /warn/i.test(severity) ? 'middling' : ''
}
