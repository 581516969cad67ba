import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'

export interface MenuItem { text: string; act?: () => void; href?: string }

// Place is where a menu or a tip opens: a point of the window.
export interface Place { x: number; y: number }

// Menu lists what the user can do with something on the page.
export function Menu({ label, items, at, onClose }: { label: string; items: MenuItem[]; at: Place; onClose: () => void }) {
  const list = useRef<HTMLUListElement>(null)
  useLayoutEffect(() => {
    keepInside(list.current!, at)
    list.current!.querySelector<HTMLElement>('[role=menuitem]')?.focus()
  }, [at.x, at.y])
  useEffect(() => {
    const outside = (event: Event) => { if (!list.current?.contains(event.target as Node)) onClose() }
    addEventListener('pointerdown', outside)
    addEventListener('resize', onClose)
    return () => { removeEventListener('pointerdown', outside); removeEventListener('resize', onClose) }
  }, [])
  const key = (event: KeyboardEvent) => {
    const all = [...list.current!.querySelectorAll<HTMLElement>('[role=menuitem]')]
    const now = all.indexOf(document.activeElement as HTMLElement)
    const to = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: all.length - 1 }[event.key]
    if (event.key === 'Escape' || event.key === 'Tab') onClose()
    else if (to !== undefined) all.at(to % all.length)?.focus()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <ul class="menu" role="menu" aria-label={label} ref={list} onKeyDown={key}>
      {items.map((item) => (
        <li key={item.text} role="none">
          {item.href !== undefined
            ? <a role="menuitem" tabIndex={-1} href={item.href} onClick={onClose}>{item.text}</a>
            : <button type="button" role="menuitem" tabIndex={-1} onClick={() => { onClose(); item.act?.() }}>{item.text}</button>}
        </li>
      ))}
    </ul>
  )
}

// keepInside moves an element to a point, but inside of the window.
export function keepInside(element: HTMLElement, { x, y }: Place, distance = 0): void {
  const { offsetWidth: width, offsetHeight: height } = element
  const { clientWidth, clientHeight } = document.documentElement
  element.style.left = `${Math.max(0, Math.min(x + distance, clientWidth - width - 4))}px`
  element.style.top = `${y + distance + height > clientHeight ? Math.max(0, y - height - distance) : y + distance}px`
}
