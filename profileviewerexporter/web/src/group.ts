// grouped returns the entries of a list by a key, in the order of the list.
export function grouped<K, T>(list: T[], key: (entry: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const entry of list) {
    const group = groups.get(key(entry))
    if (group) group.push(entry)
    else groups.set(key(entry), [entry])
  }
  return groups
}
