import { query, type FrameDetail, type Selection } from './api'
import { amend, useApi } from './hooks'
import { unzoomed } from './order'

// Change is a change of the stacks of a graph. The address has the numbers of its functions.
export type Change = 'focus' | 'hide' | 'fold'

const texts: Record<Change, string> = { focus: 'Only stacks with', hide: 'Without', fold: 'Without calls of' }

const numbers = (q: URLSearchParams, change: Change): string[] => q.get(change)?.split(',').filter(Boolean) ?? []

// changesOf returns the part of a selection that changes its stacks.
export const changesOf = (q: URLSearchParams): Pick<Selection, Change> =>
  Object.fromEntries((Object.keys(texts) as Change[]).map((c) => [c, q.get(c) ?? undefined]))

// addChange changes the stacks of the graph in the address.
export function addChange(q: URLSearchParams, change: Change, frame: number): void {
  const list = [...new Set([...numbers(q, change), String(frame)])]
  amend({ [change]: list.join(), ...unzoomed })
}

// Changes lists the changes of the stacks, each with a button that undoes it.
export function Changes({ q, selection }: { q: URLSearchParams; selection: Selection }) {
  const list = (Object.keys(texts) as Change[]).flatMap((change) => numbers(q, change).map((frame) => ({ change, frame })))
  if (list.length === 0) return null
  return (
    <p class="changes" role="group" aria-label="Changes of the stacks">
      {list.map(({ change, frame }) => (
        <button key={change + frame} type="button" class="chip" title="Undo"
          onClick={() => amend({ [change]: numbers(q, change).filter((f) => f !== frame).join(), ...unzoomed })}>
          {texts[change]} <FrameName selection={selection} frame={frame} /> <span aria-hidden="true">✕</span>
        </button>
      ))}
      {list.length > 1 && <button type="button" class="chip" onClick={() => amend({ focus: undefined, hide: undefined, fold: undefined, ...unzoomed })}>Reset</button>}
    </p>
  )
}

function FrameName({ selection, frame }: { selection: Selection; frame: string }) {
  const { value } = useApi<FrameDetail>('frame?' + query(selection, { frame }))
  return <bdi>{value?.name ?? 'function ' + frame}</bdi>
}
