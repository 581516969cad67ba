import type { Limited } from './api'
import { count } from './format'

// Omitted states what an answer leaves out because of its size.
export function Omitted({ from }: { from: Limited }) {
  if (!from.omitted) return null
  return <p class="note">{count(from.omitted)} texts or entries are shortened or left out: the answer would be larger than 8 MB.</p>
}
