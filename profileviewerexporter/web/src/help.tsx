import { useEffect, useRef, useState } from 'preact/hooks'
import { EditorSetting } from './editor'

const keys: [key: string, text: string][] = [
  ['/', 'Search: a regular expression or a text'],
  ['Enter, Shift + Enter', 'in the search: next and previous match'],
  ['← ↑ → ↓', 'in a graph or a trace: move'],
  ['Enter', 'in a graph: zoom in; in a trace: show the span'],
  ['+ −', 'in a graph or a trace: zoom'],
  ['Escape', 'in a graph or a trace: show all'],
  ['M or right click', 'on a function: focus, hide, collapse, copy, open in editor'],
  ['Ctrl + wheel', 'in a graph or a trace: zoom'],
  ['Shift + wheel', 'in a graph or a trace: pan'],
  ['Drag', 'in a graph: pan; on a timeline: select a range'],
  ['?', 'this list'],
]

const opening = 'help'

// showHelp opens the list of keys.
export const showHelp = (): boolean => dispatchEvent(new Event(opening))

// focusSearch focuses the first search box that is in the window. A trace has two: of the spans, and of the graph below them.
function focusSearch(): void {
  const boxes = [...document.querySelectorAll<HTMLElement>('main input[type=search]')]
  const shown = boxes.find((b) => b.getBoundingClientRect().top >= 0) ?? boxes[0]
  shown?.focus()
}

// Help is the list of keys, and the settings that the browser keeps.
export function Help() {
  const dialog = useRef<HTMLDialogElement>(null)
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    const open = () => { setOpen(true); if (!dialog.current?.open) dialog.current?.showModal() }
    const key = (event: KeyboardEvent) => {
      if ((event.target as HTMLElement).matches('input:not([type=checkbox]), select, textarea')) return
      if (event.key === '?') open()
      else if (event.key === '/') focusSearch()
      else return
      event.preventDefault()
    }
    addEventListener(opening, open)
    addEventListener('keydown', key)
    return () => { removeEventListener(opening, open); removeEventListener('keydown', key) }
  }, [])
  return (
    <dialog ref={dialog} aria-labelledby="keys" onClose={() => setOpen(false)}
      onClick={(e) => { if (e.target === dialog.current) dialog.current?.close() }}>
      {isOpen && <div class="dialog">
        <h2 id="keys">Keys</h2>
        <table class="keys"><tbody>{keys.map(([key, text]) => <tr key={key + text}><th scope="row"><kbd>{key}</kbd></th><td>{text}</td></tr>)}</tbody></table>
        <EditorSetting />
        <form method="dialog"><button type="submit" class="quiet wide">Close</button></form>
      </div>}
    </dialog>
  )
}

export function HelpButton() {
  return <button type="button" class="quiet" title="Keys and settings (?)" onClick={showHelp}>?<span class="hidden"> Keys and settings</span></button>
}
