import type { Frame } from './api'

// matcher returns the test of a search pattern: a regular expression, in any case, or a text if it is no valid one. The server has the
// same rule; see drawing.go.
export function matcher(pattern: string): (frame: Pick<Frame, 'name' | 'file' | 'module'>) => boolean {
  const wanted = expression(pattern)
  return (frame) => [frame.name, frame.file, frame.module].some((text) => text !== undefined && wanted.test(text))
}

function expression(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'i')
  } catch {
    return new RegExp(literal(pattern), 'i')
  }
}

// literal returns the pattern that matches a text.
export const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
