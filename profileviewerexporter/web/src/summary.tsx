import type { MergedGraph, OrderedGraph } from './api'
import type { Picture } from './boxes'
import { count, plural, weight } from './format'

// Summary states the totals of a selection, and explains the marks of its graph.
export function Summary({ whole, waiting, picture, ordered }: { whole: MergedGraph; waiting?: number; picture: Picture; ordered?: OrderedGraph }) {
  const unknown = ordered ? ordered.to - ordered.from - ordered.total - ordered.idle : 0
  return (
    <p class="sum" data-total={whole.total}>
      <strong>{weight(whole.total, whole.measure)}</strong>{whole.samples > 0 && ` in ${plural(whole.samples, 'sample')}`}
      {waiting !== undefined && waiting > 0 && <>; {weight(waiting, whole.measure)} of waiting threads are left out</>}
      {whole.idle > 0 && <>, plus {weight(whole.idle, whole.measure)} idle</>}
      {unknown > 0 && <>; {weight(unknown, whole.measure)} without samples are blank</>}
      {whole.cut > 0 && <>; the stacks of {count(whole.cut)} samples are truncated</>}
      <Legend picture={picture} />
    </p>
  )
}

function Legend({ picture }: { picture: Picture }) {
  const calls = picture.boxes.filter((b) => b.kind === 'call')
  const kinds = new Set(calls.map((b) => b.frame?.in_app))
  const guessed = (own: boolean) => (calls.some((b) => b.frame?.in_app === own && b.frame.guess) ? ' (partly guessed)' : '')
  const has = (kind: string) => picture.boxes.some((b) => b.kind === kind)
  return (
    <span class="legend">
      {kinds.has(true) && <span class="own">application{guessed(true)}</span>}
      {kinds.has(false) && <span class="library">libraries{guessed(false)}</span>}
      {kinds.has(undefined) && <span class="unknown">unknown</span>}
      {calls.some((b) => b.own.length > 0) && <span class="selfmark">self time</span>}
      {has('combined') && <span class="combined" title="Functions narrower than a pixel share a box. Zoom in to separate them.">combined</span>}
      {has('idle') && <span class="idle">idle</span>}
    </span>
  )
}
