import type { Box, Picture } from './boxes'
import { addChange, type Change } from './changes'
import { editorURL } from './editor'
import { showHelp } from './help'
import { amend } from './hooks'
import type { MenuItem } from './menu'
import { unzoomed } from './order'
import { literal } from './search'
import { amendView } from './view'

interface Context { q: URLSearchParams; byTime: boolean; search: (text: string) => void }

// actionsOf returns what the user can do with a box of a graph. Only merged stacks can be changed.
export function actionsOf(box: Box, picture: Picture, { q, byTime, search }: Context): MenuItem[] {
  const items: MenuItem[] = [{ text: 'Zoom in', act: () => amendView(box.kind === 'all' ? undefined : { left: box.start, right: box.start + box.extent }) }]
  const { frame } = box
  if (box.kind !== 'call' || !frame) return items
  if (!byTime) {
    const change = (text: string, kind: Change) => items.push({ text, act: () => addChange(q, kind, frame.number) })
    change('Focus on this function', 'focus')
    change('Hide this function', 'hide')
    change('Collapse its calls', 'fold')
  }
  items.push(
    { text: 'Show callers and callees', act: () => amend({ order: 'sandwich', function: String(frame.number), ...unzoomed }) },
    { text: 'Search for this name', act: () => search(literal(frame.name)) })
  if (navigator.clipboard) { // browsers have none on pages without TLS, except on localhost
    items.push({ text: 'Copy name', act: () => copy(frame.name) }, { text: 'Copy stack', act: () => copy(stackOf(box, picture)) })
  }
  const href = editorURL(frame.file)
  items.push(href ? { text: 'Open in editor', href } : { text: 'Open in editor: choose one', act: showHelp })
  return items
}

// stackOf returns the calls of a box as text, the innermost first.
function stackOf(box: Box, picture: Picture): string {
  const lines: string[] = []
  for (let b: Box | undefined = box; b && b.kind !== 'all'; b = picture.boxes[b.parent]) {
    lines.push(b.name + (b.frame?.file ? ` (${b.frame.file})` : ''))
  }
  return lines.join('\n')
}

function copy(text: string): void {
  navigator.clipboard.writeText(text).catch(() => undefined)
}
