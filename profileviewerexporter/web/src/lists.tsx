import { useState } from 'preact/hooks'
import type { Notices, Overview, ProfileListing, Service, TraceListing } from './api'
import { clock, count, duration, plural, weight } from './format'
import { useTitle, type Loaded } from './hooks'
import { Omitted } from './omitted'
import { Welcome } from './welcome'

// Lists is the overview: the services with their latest profiles and traces.
export function Lists({ live, service, notices }: { live: Loaded<Overview>; service: string; notices?: Notices }) {
  const [compared, setCompared] = useState<string[]>([])
  const o = live.value
  useTitle(service)
  if (!o) return <p class="note">{live.loading ? 'Loading…' : 'Cannot connect to the collector.'}</p>
  if (o.services.length === 0) return <Welcome notices={notices} />
  const compare = (id: string) => setCompared((old) => (old.includes(id) ? old.filter((x) => x !== id) : [...old, id].slice(-2)))
  return (
    <>
      <h1 class="hidden">Overview</h1>
      <Services list={o.services} chosen={service} />
      {service && <p><a href={'#/service?service=' + encodeURIComponent(service)}>Merged flame graph of the service</a></p>}
      <Omitted from={o} />
      <div class="columns">
        <section aria-labelledby="profiles">
          <h2 id="profiles">Profiles <small>{count(o.profile_count)}</small>
            <span class="grow" />
            {compared.length === 2
              ? <a class="button" href={`#/compare?a=${compared[0]}&b=${compared[1]}`}>Compare the two</a>
              : compared.length === 1 && <small>select another profile to compare</small>}
          </h2>
          {o.profiles.length === 0 && <p class="note">None yet{service && ' from this service'}.</p>}
          <ul class="cards">
            {o.profiles.map((p) => <ProfileCard key={p.id} profile={p} compared={compared.includes(p.id)} compare={compare} />)}
          </ul>
          <Rest shown={o.profiles.length} all={o.profile_count} />
        </section>
        <section aria-labelledby="traces">
          <h2 id="traces">Traces <small>{count(o.trace_count)}</small></h2>
          {o.traces.length === 0 && <p class="note">None yet{service && ' from this service'}.</p>}
          <ul class="cards">{o.traces.map((t) => <TraceCard key={t.id} trace={t} />)}</ul>
          <Rest shown={o.traces.length} all={o.trace_count} />
        </section>
      </div>
    </>
  )
}

function Services({ list, chosen }: { list: Service[]; chosen: string }) {
  const chip = (name: string, text: string, counts: string) => (
    <a class="chip" href={'#/' + (name && '?service=' + encodeURIComponent(name))} aria-current={chosen === name ? 'true' : undefined}>
      <bdi>{text}</bdi> <small>{counts}</small>
    </a>
  )
  return (
    <nav class="chips" aria-label="Services">
      {chip('', 'All services', String(list.length))}
      {list.map((s) => chip(s.name, s.name, [
        s.profiles && plural(s.profiles, 'profile'), s.traces && plural(s.traces, 'trace'), s.logs && plural(s.logs, 'log'),
      ].filter(Boolean).join(', ')))}
    </nav>
  )
}

function ProfileCard({ profile: p, compared, compare }: { profile: ProfileListing; compared: boolean; compare: (id: string) => void }) {
  return (
    <li class="card">
      <a href={'#/profile/' + p.id}>
        <span class="title"><bdi>{p.name || p.traces?.join(', ') || p.service}</bdi></span>
        <span class="meta">
          {(p.name || p.traces) && <bdi>{p.service}</bdi>}
          <span>{p.measure.type} {p.duration > 0 ? duration(p.duration) : weight(p.weight, p.measure)}</span>
          <span>{plural(p.samples, 'sample')}</span>
          <span>{plural(p.threads, 'thread')}</span>
          {p.spans > 0 && <span class="mark">{plural(p.spans, 'span')}</span>}
        </span>
        <time>{clock(p.start)}</time>
      </a>
      <label class="compare" title="Compare with another profile">
        <input type="checkbox" checked={compared} onChange={() => compare(p.id)} /><span class="hidden">Compare profile {p.id}</span>
      </label>
    </li>
  )
}

function TraceCard({ trace: t }: { trace: TraceListing }) {
  return (
    <li class="card">
      <a href={'#/trace/' + t.id}>
        <span class="title"><bdi>{t.name || 'trace ' + t.id.slice(0, 8)}</bdi></span>
        <span class="meta">
          <bdi>{t.services.join(', ')}</bdi>
          <span>{duration(t.duration)}</span>
          <span>{plural(t.spans, 'span')}</span>
          {t.errors > 0 && <span class="bad">{plural(t.errors, 'error')}</span>}
          {t.logs > 0 && <span>{plural(t.logs, 'log')}</span>}
          {t.profiles > 0 && <span class="mark">{plural(t.profiles, 'profile')}</span>}
        </span>
        <time>{clock(t.start)}</time>
      </a>
    </li>
  )
}

function Rest({ shown, all }: { shown: number; all: number }) {
  return all > shown ? <p class="note">Showing the latest {count(shown)} of {count(all)}; select a service to see more of its data.</p> : null
}
