import type { Profile } from './api'
import { AttributeTable } from './attributes'
import { clock, duration, plural, titleOf } from './format'
import { GraphView } from './graph'
import { useApi, useTitle, type Route } from './hooks'
import { Omitted } from './omitted'

// ProfileView shows one profile.
export function ProfileView({ id, route }: { id: string; route: Route }) {
  const { value: p, error } = useApi<Profile>('profiles/' + id)
  const title = p && titleOf(p)
  useTitle(title, p && clock(p.start))
  if (error) return <p class="warn" role="alert">{error}</p>
  if (!p) return <p class="note">Loading…</p>
  return (
    <>
      <div class="heading">
        <h1><bdi>{title}</bdi></h1>
        <p class="meta">
          <span>{p.measure.type} profile</span>
          {title !== p.service && <bdi>{p.service}</bdi>}
          <time>{clock(p.start)}</time>
          <span>{duration(p.duration)}</span>
          <span>{plural(p.samples, 'sample')}</span>
          {p.profile_id && <code title="profile id">{p.profile_id}</code>}
          {p.broken > 0 && <span class="bad" title="Indices in the message that are out of range">{plural(p.broken, 'broken reference')}</span>}
        </p>
      </div>
      <GraphView base={{ profiles: [id] }} route={route} threads={p.thread_list} spans={p.span_list}
        period={{ service: p.service, start: p.start, length: p.duration }} />
      <details class="about">
        <summary>About this profile</summary>
        <Omitted from={p} />
        <div class="columns">
          <AttributeTable caption="Profile" list={p.attributes} />
          <AttributeTable caption="Resource" list={p.scope ? [...p.resource, { key: 'scope', value: p.scope }] : p.resource} />
        </div>
      </details>
    </>
  )
}
