import { useEffect, useState } from 'preact/hooks'

// Theme is the user's choice; auto follows the system.
type Theme = 'auto' | 'light' | 'dark'
const themes: Theme[] = ['auto', 'light', 'dark']

const system = matchMedia('(prefers-color-scheme: dark)')

function stored(): Theme {
  const value = localStorage.getItem('theme') as Theme
  return themes.includes(value) ? value : 'auto'
}

function apply(theme: Theme): void {
  const dark = theme === 'dark' || (theme === 'auto' && system.matches)
  document.documentElement.dataset.theme = dark ? 'dark' : 'light'
  dispatchEvent(new Event('theme'))
}

apply(stored()) // before the first render

export function ThemeButton() {
  const [theme, setTheme] = useState(stored)
  useEffect(() => {
    apply(theme)
    localStorage.setItem('theme', theme)
    const follow = () => apply(theme)
    system.addEventListener('change', follow)
    return () => system.removeEventListener('change', follow)
  }, [theme])
  const next = themes[(themes.indexOf(theme) + 1) % themes.length]!
  return (
    <button type="button" class="quiet" title={`Colors: ${theme}. Change to ${next}.`} onClick={() => setTheme(next)}>
      {{ auto: '◐', light: '☀', dark: '☾' }[theme]}<span class="hidden">Colors: {theme}</span>
    </button>
  )
}

export const isDark = (): boolean => document.documentElement.dataset.theme === 'dark'

// useTheme reports whether the theme is dark, and renders the component again when it changes.
export function useTheme(): boolean {
  const [dark, setDark] = useState(isDark)
  useEffect(() => {
    const change = () => setDark(isDark())
    addEventListener('theme', change)
    return () => removeEventListener('theme', change)
  }, [])
  return dark
}
