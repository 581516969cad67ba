import { isDark } from './theme'
import type { FlameNode } from './tree'

// Colouring is the meaning of the colours. code: application or library; own: library code is dimmed; delta: the result of a comparison.
export type Colouring = 'code' | 'own' | 'delta'

// fill returns the colour of a rectangle. Hues distinguish modules or files: warm hues are application code, cool hues are libraries.
// Text has a contrast of at least 4.5 on each of them.
export function fill(node: FlameNode, found: boolean, colouring: Colouring): string {
  const dark = isDark()
  if (node.kind === 'gap') return 'transparent'
  if (node.kind === 'all') return dark ? '#334155' : '#e2e8f0'
  if (found) return dark ? '#a21caf' : '#f0abfc'
  if (colouring === 'delta') return deltaColour(node, dark)
  const own = node.frame?.in_app
  if (colouring === 'own' && own !== true) return dark ? '#293548' : '#e9eef4'
  const spread = hash(node.frame?.module || node.frame?.file || node.name)
  if (own === true) return dark ? hsl(10 + 38 * spread, 62, 33) : hsl(14 + 36 * spread, 92, 72)
  if (own === false) return dark ? hsl(195 + 50 * spread, 24, 32) : hsl(195 + 50 * spread, 45, 82)
  return dark ? hsl(95 + 70 * spread, 16, 29) : hsl(95 + 70 * spread, 28, 80)
}

// deltaColour returns red for an increase and blue for a decrease, more saturated for a larger change relative to the node.
function deltaColour(node: FlameNode, dark: boolean): string {
  const change = Math.max(-1, Math.min(1, (node.delta ?? 0) / Math.max(1, node.value)))
  const strength = Math.abs(change)
  if (strength < 0.01) return dark ? '#334155' : '#e2e8f0'
  const hue = change > 0 ? 8 : 215
  return dark ? hsl(hue, 25 + 45 * strength, 30 + 6 * strength) : hsl(hue, 40 + 50 * strength, 88 - 18 * strength)
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
