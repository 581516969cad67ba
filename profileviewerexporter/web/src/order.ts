// Order is the arrangement of the stacks in a graph.
export type Order = 'merged' | 'time' | 'inverted' | 'sandwich'

// orders has the text and the explanation of each order.
export const orders: [Order, string, string][] = [
  ['merged', 'Merged', 'Callers first, equal stacks merged'],
  ['time', 'By time', 'The calls of one thread in chronological order'],
  ['inverted', 'Inverted', 'Running functions first, their callers below'],
  ['sandwich', 'Sandwich', 'Callers and callees of the selected function'],
]

export function orderOf(q: URLSearchParams): Order {
  return orders.find(([order]) => order === q.get('order'))?.[0] ?? 'merged'
}

// unzoomed is the change of the address that shows all of every graph.
export const unzoomed = { zoom: undefined, callers: undefined }
