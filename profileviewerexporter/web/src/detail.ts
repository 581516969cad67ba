import { useEffect, useRef, useState } from 'preact/hooks'
import { get, type Drawing } from './api'
import { pictureOf, type Picture } from './boxes'
import type { View } from './paint'

// pixels returns the width for which pictures of the whole graph are requested.
export const pixels = (): number => Math.min(4096, Math.max(320, document.documentElement.clientWidth))

const pause = 60 // milliseconds without a movement

// useDetail requests the boxes of the visible part of a graph, and of a quarter of it on both sides. path is the request for all of it.
export function useDetail(path: string | undefined, view: View | undefined, all: View | undefined): Picture | undefined {
  const [state, setState] = useState<{ path: string; picture: Picture }>()
  const asked = useRef<{ path: string; window: View; length: number } | undefined>(undefined)
  useEffect(() => {
    if (!view || !all || path === undefined) return
    const length = view.right - view.left
    const last = asked.current
    if (last?.path === path && last.window.left <= view.left && last.window.right >= view.right && last.length <= length * 1.2) return
    const window = {
      left: Math.max(0, Math.floor(Math.max(all.left, view.left - length / 4))), right: Math.ceil(Math.min(all.right, view.right + length / 4)),
    }
    const abort = new AbortController()
    const timer = setTimeout(() => {
      const width = Math.round((pixels() * (window.right - window.left)) / length)
      get<Drawing>(`${path}&left=${window.left}&right=${window.right}&pixels=${width}`, abort.signal).then((drawing) => {
        asked.current = { path, window, length }
        setState({ path, picture: pictureOf(drawing, window.left, window.right) })
      }, () => {}) // the picture of the whole graph stays
    }, pause)
    return () => { clearTimeout(timer); abort.abort() }
  }, [path, view?.left, view?.right, all?.left, all?.right])
  return state && state.path === path ? state.picture : undefined
}
