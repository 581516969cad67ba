import type { Notice, Notices } from './api'
import { clock, count, duration, nanos, plural } from './format'
import { useTitle } from './hooks'

// Problems lists the data that the collector could not use, with the reasons.
export function Problems({ value }: { value?: Notices }) {
  useTitle('Problems')
  const rejected = value?.notices.filter((n) => !isLink(n)) ?? []
  const unlinked = value?.notices.filter(isLink) ?? []
  return (
    <>
      <h1>Problems</h1>
      <p class="note">Since the start of the collector. Its metrics have the complete counts.</p>
      <h2 id="rejected">Rejected data</h2>
      <NoticeTable list={rejected} labelledby="rejected" none="All received data was usable." />
      <h2 id="unlinked">Samples without a span</h2>
      <NoticeTable list={unlinked} labelledby="unlinked" none="All samples were linked to spans, or there are none." />
    </>
  )
}

// isLink reports whether a notice is about samples without links. Most applications have some: threads without spans.
const isLink = (n: Notice): boolean => n.subject.startsWith('samples ')

// rejectedCount is the number of reasons for which data was rejected.
export const rejectedCount = (value?: Notices): number => value?.notices.filter((n) => !isLink(n)).length ?? 0

// Held states that profiles will appear soon.
export function Held({ notices: n }: { notices?: Notices }) {
  if (!n?.held) return null
  return <>{plural(n.held, 'profile')} {n.held === 1 ? 'waits' : 'wait'} for {n.held === 1 ? 'its' : 'their'} spans (up to {duration(1e9 * (n.held_for ?? 0))})</>
}

function NoticeTable({ list, labelledby, none }: { list: Notice[]; labelledby: string; none: string }) {
  if (list.length === 0) return <p class="note">{none}</p>
  return (
    <div class="scroll" tabIndex={0} role="region" aria-labelledby={labelledby}>
      <table class="grid">
        <thead><tr><th scope="col">Last</th><th scope="col">Count</th><th scope="col">Service</th><th scope="col">Data</th><th scope="col">Reason</th><th scope="col">Component</th></tr></thead>
        <tbody>
          {list.map((n) => (
            <tr key={n.component + n.service + n.subject + n.reason}>
              <td><time>{clock(nanos(n.last))}</time></td>
              <td class="number">{count(n.count)}</td>
              <td><bdi>{n.service}</bdi></td>
              <td>{n.subject}</td>
              <td><bdi>{n.detail}</bdi> <small><code>{n.reason}</code></small></td>
              <td>{n.component}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
