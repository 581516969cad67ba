import type { Box } from './boxes'

// Coloring is the meaning of the colors. code: application or library; own: library code is dimmed; delta: the result of a comparison.
export type Coloring = 'code' | 'own' | 'delta'

// Palette has the colors of a theme that are the same for all functions.
export interface Palette {
  sheet: string
  text: string
  all: string
  found: string
  self: string // marks of self time
  combined: string
  stripe: string // on combined boxes
  idle: string
  idleMark: string
  edge: string
  accent: string
}

// Text has a contrast of at least 4.5 on each color that has text. self marks have at least 3 on each color of functions, and stripes
// on the color of combined boxes.
export const light: Palette = {
  sheet: '#ffffff', text: '#0f172a', all: '#e2e8f0', found: '#f0abfc', self: '#334155', stripe: '#64748b', combined: '#cbd5e1', idle: '#f1f5f9', idleMark: '#94a3b8',
  edge: 'rgb(15 23 42 / 25%)', accent: '#c2410c',
}
export const dark: Palette = {
  sheet: '#111a2b', text: '#e6edf6', all: '#334155', found: '#a21caf', self: '#e2e8f0', stripe: '#94a3b8', combined: '#1e293b', idle: '#172033', idleMark: '#475569',
  edge: 'rgb(0 0 0 / 45%)', accent: '#fb923c',
}

// fill returns the color of a box.
export function fill(box: Box, coloring: Coloring, isDark: boolean): string {
  const key = isDark ? coloring : coloring + ' light'
  if (box.shade?.key !== key) box.shade = { key, color: shadeOf(box, coloring, isDark) }
  return box.shade.color
}

// shadeOf returns the color of a function. Hues distinguish modules or files: warm hues are application code, cool hues are libraries.
function shadeOf(box: Box, coloring: Coloring, isDark: boolean): string {
  const palette = isDark ? dark : light
  if (box.kind === 'all') return palette.all
  if (box.kind === 'idle') return palette.idle
  if (box.found) return palette.found
  if (coloring === 'delta') return deltaColor(box, isDark)
  const own = box.frame?.in_app
  if (coloring === 'own' && own !== true) return isDark ? '#293548' : '#e9eef4'
  const spread = hash(box.frame?.module || box.frame?.file || box.name)
  if (own === true) return isDark ? hsl(10 + 38 * spread, 62, 33) : hsl(14 + 36 * spread, 92, 72)
  if (own === false) return isDark ? hsl(195 + 50 * spread, 24, 32) : hsl(195 + 50 * spread, 45, 82)
  return isDark ? hsl(95 + 70 * spread, 16, 29) : hsl(95 + 70 * spread, 28, 80)
}

const serviceColors = 8 // see style.css

// serviceColor returns the number of the color of a service.
export const serviceColor = (name: string): number => Math.floor(hash(name) * serviceColors)

// deltaColor returns red for an increase and blue for a decrease, more saturated for a larger change relative to the box.
function deltaColor(box: Box, isDark: boolean): string {
  const change = Math.max(-1, Math.min(1, box.delta / Math.max(1, box.weight)))
  const strength = Math.abs(change)
  if (strength < 0.01) return isDark ? '#334155' : '#e2e8f0'
  const hue = change > 0 ? 8 : 215
  return isDark ? hsl(hue, 25 + 45 * strength, 30 + 6 * strength) : hsl(hue, 40 + 50 * strength, 88 - 18 * strength)
}

function hsl(hue: number, saturation: number, lightness: number): string {
  return `hsl(${hue.toFixed(0)} ${saturation.toFixed(0)}% ${lightness.toFixed(0)}%)`
}

// hash maps a text to a number from 0 to 1.
function hash(text: string): number {
  let h = 2166136261
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619)
  return ((h >>> 0) % 1000) / 1000
}
