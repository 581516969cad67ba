import { useState } from 'preact/hooks'
import { end, type Box, type Picture } from './boxes'
import { count } from './format'
import type { View } from './paint'

const mostRows = 500

// Outline is the visible part of a graph as a list, for readers of text.
export function Outline({ picture, view, describe }: { picture: Picture; view: View; describe: (box: Box) => string }) {
  const [open, setOpen] = useState(false)
  const visible = open ? picture.boxes.filter((b) => b.start < view.right && end(b) > view.left) : []
  return (
    <details class="outline" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>Graph as text</summary>
      <ul>
        {visible.slice(0, mostRows).map((b, i) => (
          <li key={i} style={{ paddingInlineStart: `${Math.min(b.depth, 30) * 0.6}rem` }}><span class="hidden">level {b.depth}: </span><bdi>{describe(b)}</bdi></li>
        ))}
      </ul>
      {visible.length > mostRows && <p class="note">The first {count(mostRows)} of {count(visible.length)} boxes; zoom in to list the others.</p>}
    </details>
  )
}
