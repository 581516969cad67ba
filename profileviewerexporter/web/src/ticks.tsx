import { scaleLinear } from 'd3-scale'
import { unitOf } from './format'

const label = 56 // pixels: the last label and the page's margins need as much space

// Ticks labels the times of an axis, in nanoseconds. All labels have the same unit, and enough digits to differ.
export function Ticks({ left, right }: { left: number; right: number }) {
  const width = document.documentElement.clientWidth
  const ticks = scaleLinear().domain([left, right]).ticks(Math.max(2, Math.min(8, Math.round(width / 130))))
  const [size, unit] = unitOf(right)
  const digits = Math.max(0, Math.ceil(Math.log10(size / ((ticks[1] ?? right) - (ticks[0] ?? left))) - 1e-9))
  return (
    <>
      {ticks.filter((t) => t - left < (right - left) * (1 - label / width)).map((t) => <span key={t} style={{ left: `${(100 * (t - left)) / Math.max(1, right - left)}%` }}>{t === 0 ? '0' : `${(t / size).toFixed(digits)} ${unit}`}</span>)}
    </>
  )
}
