import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { amend } from './hooks'
import type { View } from './paint'

const shortest = 10 // of a view: 10 ns

// zoomed returns a view that is longer by a factor, around a position; undefined is all of the graph.
export function zoomed(view: View, all: View, factor: number, around = (view.left + view.right) / 2): View | undefined {
  const length = Math.max(shortest, (view.right - view.left) * factor)
  if (length >= all.right - all.left) return undefined
  const part = (around - view.left) / (view.right - view.left)
  return moved({ left: around - part * length, right: around + (1 - part) * length }, all, 0)
}

// moved returns a view at another place of the graph.
export function moved(view: View, all: View, shift: number): View | undefined {
  const length = view.right - view.left
  if (length >= all.right - all.left) return undefined
  const left = Math.min(Math.max(all.left, view.left + shift), all.right - length)
  return { left, right: left + length }
}

// wheeled returns the view after a turn of the wheel above a track: Ctrl zooms around the pointer, Shift and sideways turns pan. It
// returns false if the wheel scrolls the page.
export function wheeled(event: WheelEvent, view: View, all: View, track: Element): View | undefined | false {
  const { left, width } = track.getBoundingClientRect()
  const length = view.right - view.left
  if (event.ctrlKey || event.metaKey) return zoomed(view, all, Math.exp(event.deltaY / 300), view.left + ((event.clientX - left) / width) * length)
  if (event.deltaX !== 0 || event.shiftKey) return moved(view, all, ((event.deltaX || event.deltaY) / width) * length)
  return false
}

const animation = 200 // milliseconds

// useAnimated returns a view that follows another one smoothly. Small steps, as of a drag, are not animated, nor is the change to
// another graph.
export function useAnimated(target: View, graph: unknown): View {
  const [state, setState] = useState({ shown: target, graph })
  const shown = state.graph === graph ? state.shown : target
  const setShown = (view: View) => setState({ shown: view, graph })
  const latest = useRef(shown)
  latest.current = shown
  useEffect(() => {
    const from = latest.current
    const length = Math.max(target.right - target.left, from.right - from.left)
    const step = Math.abs(target.left - from.left) + Math.abs(target.right - from.right)
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches
    if (step === 0) return setShown(target)
    if (still || step < length * 0.15 || target.left >= from.right || target.right <= from.left) return setShown(target)
    const begin = performance.now()
    let frame = 0
    const next = () => {
      const part = Math.min(1, (performance.now() - begin) / animation)
      const eased = 1 - (1 - part) ** 3
      setShown(part === 1 ? target : {
        left: from.left + (target.left - from.left) * eased, right: from.right + (target.right - from.right) * eased,
      })
      if (part < 1) frame = requestAnimationFrame(next)
    }
    frame = requestAnimationFrame(next)
    return () => cancelAnimationFrame(frame)
  }, [target.left, target.right, graph])
  return shown
}

const settled = 250 // milliseconds after the last movement

// useView returns the visible part of the graph. The address has it under a key, and the history where a click changed it.
export function useView(q: URLSearchParams, key = 'zoom') {
  const text = q.get(key) ?? ''
  const [moving, setMoving] = useState<{ view?: View }>()
  useEffect(() => setMoving(undefined), [text])
  useEffect(() => {
    if (!moving) return
    const timer = setTimeout(() => amend({ [key]: textOf(moving.view) }, 'replace'), settled)
    return () => clearTimeout(timer)
  }, [moving])
  const named = useMemo(() => parseView(text), [text])
  const onView = (view: View | undefined, isMoving = false) => {
    if (isMoving) return setMoving({ view })
    setMoving(undefined)
    amend({ [key]: textOf(view) })
  }
  return { view: moving ? moving.view : named, onView }
}

// amendView changes the visible part of the graph in the address.
export const amendView = (view: View | undefined): void => amend({ zoom: textOf(view) })

const textOf = (view?: View): string | undefined => view && `${Math.floor(view.left)}-${Math.ceil(view.right)}`

function parseView(text: string): View | undefined {
  const [left, right] = text.split('-').map(Number)
  return left !== undefined && right !== undefined && left >= 0 && right > left ? { left, right } : undefined
}
