import { useState } from 'preact/hooks'
import type { Breadcrumb, ErrorDetail, ErrorRecord, Occurrence, StackException, StackFrame } from './api'
import { AttributeTable } from './attributes'
import { EditorLink } from './editor'
import { ago, clock, codeOf, count, duration, place, plural } from './format'
import { amend, useApi, useTitle, type Route } from './hooks'
import { Omitted } from './omitted'

// ErrorView shows one error of a group: its stacks, and the activity before it.
export function ErrorView({ id, route }: { id: string; route: Route }) {
  const key = route.query.get('error')
  const { value: d, error } = useApi<ErrorDetail>(`errors/${id}${key ? '?error=' + encodeURIComponent(key) : ''}`)
  useTitle(d && (d.group.type || d.group.message))
  if (error) return <p class="warn" role="alert">{error}</p>
  if (!d) return <p class="note">Loading…</p>
  const { group: g, error: e } = d
  return (
    <>
      <div class="heading">
        <h1><bdi>{g.type || g.message || 'Error'}</bdi></h1>
        {g.type && g.message && <p class="message"><bdi>{e.exceptions[0]?.message || g.message}</bdi></p>}
        <p class="meta">
          <bdi>{e.service}</bdi>
          <time>{clock(e.time)}</time>
          {e.release && <span>release <bdi>{e.release}</bdi></span>}
          {e.environment && <bdi title="Environment">{e.environment}</bdi>}
          {e.sdk && <bdi title="SDK">{e.sdk}</bdi>}
          {g.count > 1 && <><span>{plural(g.count, 'error')}</span><span>last <time>{ago(g.last)}</time></span><span>first <time>{ago(g.first)}</time></span></>}
          {g.handled === false && <span class="bad">unhandled</span>}
        </p>
      </div>
      {g.count > 1 && <Chooser list={d.occurrences} chosen={e} all={g.count} />}
      <p class="meta links">
        {e.trace && <a href={`#/trace/${e.trace}`}>View trace</a>}
        {e.span && e.span !== noSpan && <a href={`#/trace/${e.trace}?span=${e.span}`}>View span</a>}
        {e.profile && <a href={`#/profile/${e.profile}`}>View the profile of the trace</a>}
        {e.samples && <a href={samplesAround(e.samples)}>View samples around the error</a>}
      </p>
      <Releases list={d.releases} />
      {e.exceptions.map((x, i) => <Exception key={i} exception={x} first={i === 0} />)}
      <Breadcrumbs list={e.breadcrumbs} at={e.time} />
      <section class="panel"><h2>Attributes</h2><AttributeTable list={e.attributes} /></section>
      <Omitted from={d} />
    </>
  )
}

// Releases states since which release a group of errors occurs.
function Releases({ list }: { list: ErrorDetail['releases'] }) {
  if (!list.some((r) => r.name)) return null
  return (
    <section class="panel releases">
      <h2>Releases</h2>
      <table class="listing">
        <thead><tr><th scope="col" class="text">Release</th><th scope="col" class="number">Errors</th><th scope="col" class="number">First</th><th scope="col" class="number">Last</th></tr></thead>
        <tbody>
          {list.map((r) => (
            <tr key={r.name}>
              <td class="text" data-title="Release"><bdi>{r.name || '(unknown)'}</bdi></td><td class="number" data-title="Errors">{count(r.count)}</td>
              <td class="number" data-title="First"><time>{clock(r.first)}</time></td><td class="number" data-title="Last"><time>{clock(r.last)}</time></td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const noSpan = '0000000000000000'

function samplesAround({ profile, thread, from, to }: NonNullable<ErrorRecord['samples']>): string {
  const q = new URLSearchParams({ from: String(from), to: String(to) })
  if (thread) q.set('thread', thread)
  else q.set('threads', 'all')
  return `#/profile/${profile}?${q}`
}

// Chooser moves between the errors of a group.
function Chooser({ list, chosen, all }: { list: Occurrence[]; chosen: Occurrence; all: number }) {
  const at = list.findIndex((o) => o.key === chosen.key)
  const go = (o: Occurrence | undefined) => amend({ error: o?.key })
  return (
    <div class="tools" role="group" aria-label="Errors of this group">
      <button type="button" disabled={at <= 0} onClick={() => go(list[at - 1])}>Newer</button>
      <button type="button" disabled={at < 0 || at >= list.length - 1} onClick={() => go(list[at + 1])}>Older</button>
      <label>Error{' '}
        <select value={chosen.key} onChange={(e) => amend({ error: e.currentTarget.value })}>
          {list.map((o, i) => <option key={o.key + i} value={o.key}>{clock(o.time)} {o.service}</option>)}
        </select>
      </label>
      {list.length < all && <span class="note">The latest {count(list.length)} of {count(all)} are listed.</span>}
    </div>
  )
}

// maxIndent bounds the indentation, in levels.
const maxIndent = 32

function Exception({ exception: x, first }: { exception: StackException; first: boolean }) {
  const isLibrary = (f: StackFrame) => f.in_app === false
  const hidden = x.tree ? 0 : x.frames.filter(isLibrary).length // a tree without them has other callers
  const [all, setAll] = useState(hidden === x.frames.length)
  if (first && x.frames.length === 0 && x.missing === 0) return null
  const shown = all || x.tree ? x.frames : x.frames.filter((f) => !isLibrary(f))
  return (
    <section class="panel">
      <h2>{!first && <small>Caused by </small>}<bdi>{first ? (x.tree ? 'Call tree' : 'Stack') : x.type || 'Exception'}</bdi></h2>
      {!first && x.message && <p class="message"><bdi>{x.message}</bdi></p>}
      {x.frames.length === 0 && <p class="note">No stack.</p>}
      {x.tree && <p class="note">Samples of several stacks: callers first, callees indented.</p>}
      <ol class="frames">{shown.map((f, i) => <li key={i} style={x.tree ? { paddingInlineStart: `${Math.min(f.depth ?? 0, maxIndent)}rem` } : undefined}><Frame frame={f} open={first && i === 0} /></li>)}</ol>
      {hidden > 0 && hidden < x.frames.length && (
        <button type="button" class="quiet wide" aria-pressed={all} onClick={() => setAll(!all)}>{all ? 'Hide' : 'Show'} {plural(hidden, 'library frame')}</button>
      )}
      {x.missing > 0 && <p class="note">{plural(x.missing, 'frame')} omitted.</p>}
    </section>
  )
}

function Frame({ frame: f, open }: { frame: StackFrame; open: boolean }) {
  const where = place(f.file || f.module, f.line, f.column)
  const title = (
    <>
      {f.samples !== undefined && <><small>{plural(f.samples, 'sample')}</small>{' '}</>}
      <bdi class="function">{f.function || '?'}</bdi>{' '}
      <bdi class="where">{where}</bdi>{' '}
      {f.in_app !== undefined && <small>{codeOf(f)}</small>}
      {f.raw && <bdi class="raw">reported as {f.raw.function || '?'} {place(f.raw.file || f.raw.module, f.raw.line, f.raw.column)}</bdi>}
    </>
  )
  if (!f.source && !f.vars) return <div class="frame">{title}<EditorLink file={f.file} line={f.line} column={f.column} /></div>
  return (
    <details class="frame" open={open}>
      <summary>{title}</summary>
      {f.source && <Source frame={f} />}
      {f.vars && <AttributeTable caption="Local variables" list={f.vars} />}
      <EditorLink file={f.file} line={f.line} column={f.column} />
    </details>
  )
}

function Source({ frame: f }: { frame: StackFrame }) {
  const before = f.before ?? []
  const line = f.line ?? 0
  const row = (text: string, at: number) => (
    <span key={at} class={at === line ? 'current' : undefined}><span class="at" aria-hidden="true">{line > 0 ? at : ''}</span>{text}{'\n'}</span>
  )
  return (
    <pre class="source" tabIndex={0} aria-label="Source"><code>
      {before.map((text, i) => row(text, line - before.length + i))}
      {row(f.source!, line)}
      {f.after?.map((text, i) => row(text, line + 1 + i))}
    </code></pre>
  )
}

function Breadcrumbs({ list, at }: { list: Breadcrumb[]; at: string }) {
  if (list.length === 0) return null
  const before = (time: string) => (time === '0' ? '' : duration(Math.max(0, Number(BigInt(at) - BigInt(time)))))
  return (
    <section class="panel">
      <h2 id="breadcrumbs">Breadcrumbs <small>{list.length}</small></h2>
      <div class="scroll" tabIndex={0} role="region" aria-labelledby="breadcrumbs">
        <table class="listing">
          <thead><tr><th scope="col" class="number">Before</th><th scope="col">Category</th><th scope="col">Level</th><th scope="col" class="text">Message</th></tr></thead>
          <tbody>
            {list.map((b, i) => (
              <tr key={i} class="crumb">
                <td class="number" data-title="Before"><time>{before(b.time)}</time></td>
                <td data-title="Category"><bdi>{b.category || b.type}</bdi></td>
                <td data-title="Level"><span class={b.level === 'error' ? 'bad' : undefined}>{b.level}</span></td>
                <td class="text" data-title="Message"><bdi>{b.message}</bdi>{b.data && <AttributeTable list={b.data} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}
