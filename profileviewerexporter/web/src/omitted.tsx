import type { Limited } from './api'
import { count } from './format'

// Omitted states how much a response leaves out because of its size.
export function Omitted({ from }: { from: Limited }) {
  if (!from.omitted) return null
  return <p class="note">{count(from.omitted)} texts or entries are shortened or left out to keep the response below 8 MB.</p>
}
