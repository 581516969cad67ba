import type { Attribute } from './api'

// AttributeTable lists attributes by key.
export function AttributeTable({ list, caption }: { list: Attribute[]; caption?: string }) {
  if (list.length === 0) return null
  return (
    <table class="attributes">
      {caption && <caption>{caption}</caption>}
      <tbody>
        {[...list].sort((a, b) => (a.key < b.key ? -1 : 1)).map((a, i) => (
          <tr key={i}>
            <th scope="row"><bdi>{a.key}</bdi></th>
            <td><bdi>{a.value}</bdi>{a.unit && ' ' + a.unit}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
