import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Notices, Overview } from './api'
import { Compare } from './compare'
import { ErrorView } from './error'
import { Errors } from './errors'
import { bytes, duration, share } from './format'
import { Help, HelpButton } from './help'
import { useApi, useRoute } from './hooks'
import { Import } from './import'
import { Lists } from './lists'
import { LiveButtons, useLive } from './live'
import { Logs } from './logs'
import { Metrics } from './metrics'
import { Problems, rejectedCount } from './notices'
import { ProfileView } from './profile'
import { Services, ServiceView } from './service'
import './style.css'
import { ThemeButton } from './theme'
import { TraceView } from './trace'

function App() {
  const route = useRoute()
  const [view = '', id = ''] = route.path
  const service = route.query.get('service') ?? ''
  const live = useApi<Overview>('overview?entries=0', 'profiles', 'traces', 'logs', 'metrics')
  const notices = useApi<Notices>('notices', 'notices').value
  const { offline } = useLive()
  const problems = rejectedCount(notices)
  const services = live.value?.services ?? []
  const page = view + id
  useEffect(() => scrollTo(0, 0), [page])
  return (
    <>
      <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); document.getElementById('main')?.focus() }}>Skip to content</a>
      <header class="bar">
        <a class="home" href="#/"><img src="icon.svg" alt="" width="20" height="20" /><span>otelcol-sentry</span></a>
        <nav>
          {[['', 'Overview'], ['services', 'Services'], ['errors', 'Errors'], ['logs', 'Logs'], ['metrics', 'Metrics'], ['problems', 'Problems']].map(([path, text]) => (
            <a key={path} href={'#/' + path} aria-current={view === path ? 'page' : undefined}>
              {text}{path === 'problems' && problems > 0 && <small class="badge">{problems}</small>}
            </a>
          ))}
        </nav>
        <span class="grow" />
        {offline && <span class="warn" role="status">Cannot connect to the collector</span>}
        {live.value && <Fill overview={live.value} />}
        <LiveButtons />
        <HelpButton />
        <ThemeButton />
      </header>
      <main id="main" tabIndex={-1}>
        {view === 'profile' ? <ProfileView key={id} id={id} route={route} />
          : view === 'trace' ? <TraceView key={id} id={id} route={route} />
          : view === 'compare' ? <Compare route={route} services={services} />
          : view === 'services' ? <Services route={route} />
          : view === 'service' ? <ServiceView key={service} route={route} />
          : view === 'errors' ? <Errors route={route} services={services} />
          : view === 'error' ? <ErrorView key={id} id={id} route={route} />
          : view === 'metrics' ? <Metrics route={route} services={services} />
          : view === 'logs' ? <Logs route={route} services={services} />
          : view === 'problems' ? <Problems value={notices} />
          : <Lists live={live} route={route} notices={notices} />}
        <Import />
      </main>
      <Help />
    </>
  )
}

function Fill({ overview: o }: { overview: Overview }) {
  const text = `${bytes(o.bytes)} of ${bytes(o.max_bytes)} (${share(o.bytes, o.max_bytes)}), maximum age ${duration(o.max_age * 1e9)}`
  return (
    <span class="fill" title={`Memory: ${text}. ${o.evicted} messages evicted, ${o.dropped} dropped because they were too large.`}>
      <meter min={0} max={o.max_bytes} value={o.bytes} aria-label="memory in use" />
      <span>{bytes(o.bytes)}</span>
    </span>
  )
}

render(<App />, document.body)
