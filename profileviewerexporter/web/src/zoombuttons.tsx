import type { View } from './paint'
import { zoomed } from './view'

// ZoomButtons change the visible part of a graph or a trace.
export function ZoomButtons({ view, all, around, onView }: { view: View; all: View; around?: number; onView: (view: View | undefined) => void }) {
  const full = view.left <= all.left && view.right >= all.right
  return (
    <span class="zoom" role="group" aria-label="Zoom">
      <button type="button" aria-label="Zoom in" onClick={() => onView(zoomed(view, all, 0.5, around))}>+</button>
      <button type="button" aria-label="Zoom out" disabled={full} onClick={() => onView(zoomed(view, all, 2, around))}>−</button>
      <button type="button" disabled={full} onClick={() => onView(undefined)}>Show all</button>
    </span>
  )
}
