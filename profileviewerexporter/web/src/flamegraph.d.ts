// What we use of d3-flame-graph, which has no types of its own.
declare module 'd3-flame-graph' {
  import type { Selection } from 'd3-selection'

  export interface Placed<T> {
    data: T
    value: number
    highlight?: boolean
    parent: Placed<T> | null
    children?: Placed<T>[]
  }

  export interface Chart<T> {
    (selection: Selection<HTMLElement, T, null, undefined>): void
    width(pixels: number): Chart<T>
    cellHeight(pixels: number): Chart<T>
    minFrameSize(pixels: number): Chart<T>
    transitionDuration(milliseconds: number): Chart<T>
    inverted(rootOnTop: boolean): Chart<T>
    resetHeightOnZoom(on: boolean): Chart<T>
    label(text: (d: Placed<T>) => string): Chart<T>
    color(fill: (d: Placed<T>, original: string) => string): Chart<T>
    setSearchMatch(match: (d: Placed<T>, term: string) => boolean): Chart<T>
    setSearchHandler(handle: (results: Placed<T>[], sum: number, total: number) => void): Chart<T>
    onClick(handle: (d: Placed<T>) => void): Chart<T>
    onHover(handle: (d: Placed<T>) => void): Chart<T>
    search(term: string): void
    clear(): void
    zoomTo(d: Placed<T>): void
    resetZoom(): void
    update(): void
    destroy(): void
  }

  export function flamegraph<T>(): Chart<T>
  export default flamegraph
}

declare module '*.css'
