import type { Frame, Measure, ProfileListing } from './api'

const steps: [number, string][] = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']]

// unitOf returns the unit of a duration: its length in nanoseconds, and its name.
export const unitOf = (ns: number): [number, string] => steps.find(([size]) => Math.abs(ns) >= size) ?? [1, 'ns']

// three significant digits, without an exponent.
function digits(n: number): string {
  const size = Math.abs(Number(n.toPrecision(3)))
  return n.toFixed(size >= 100 || Number.isInteger(n) ? 0 : size >= 10 ? 1 : 2)
}

export function duration(ns: number): string {
  if (ns >= 120e9) return `${Math.floor(ns / 60e9)} min` + (ns % 60e9 >= 1e9 ? ` ${Math.floor((ns % 60e9) / 1e9)} s` : '')
  const [size, unit] = unitOf(Number(ns.toPrecision(3)))
  return ns === 0 ? '0' : `${digits(ns / size)} ${unit}`
}

export function bytes(n: number): string {
  for (const [size, unit] of [[1 << 30, 'GiB'], [1 << 20, 'MiB'], [1 << 10, 'KiB']] as const) {
    if (Math.abs(n) >= size) return `${digits(n / size)} ${unit}`
  }
  return `${n} B`
}

export const count = (n: number): string => n.toLocaleString('en')

export function weight(n: number, measure: Measure): string {
  switch (measure.unit) {
    case 'nanoseconds': return duration(n)
    case 'bytes': return bytes(n)
    case 'count': return count(n)
  }
  return `${count(n)} ${measure.unit}`
}

export function share(part: number, whole: number): string {
  return whole > 0 ? `${((100 * part) / whole).toFixed(1)}%` : '–'
}

const dateOf = (unixNano: string): Date => new Date(Number(BigInt(unixNano) / 1_000_000n))

export const isToday = (unixNano: string): boolean => dateOf(unixNano).toDateString() === new Date().toDateString()

// clock returns a time of day; of another day than today, with its date.
export function clock(unixNano: string, precise = false): string {
  if (unixNano === '0') return 'no time'
  const time = dateOf(unixNano)
  const text = time.toLocaleTimeString('en-GB', precise ? { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 } : undefined)
  return isToday(unixNano) ? text : `${time.toLocaleDateString('sv-SE')} ${text}`
}

// nanos returns a time in RFC 3339, or a local time, as Unix nanoseconds.
export const nanos = (time: string): string => String(BigInt(Date.parse(time)) * 1_000_000n)

// localTime returns a time in the form of an input for dates and times, to a second; see nanos.
export function localTime(unixNano: string): string {
  const time = dateOf(unixNano)
  return `${time.toLocaleDateString('sv-SE')}T${time.toLocaleTimeString('sv-SE')}`
}

export function plural(n: number, noun: string): string {
  return `${count(n)} ${noun}${n === 1 ? '' : 's'}`
}

// titleOf returns the name under which a profile is shown: of an SDK's transaction, of its traces, or of its service.
export const titleOf = (p: ProfileListing): string => p.name || p.traces?.join(', ') || p.service

// place returns file, line and column in the form that editors accept.
export function place(file?: string, line?: number, column?: number): string {
  return [file, line || undefined, (line && column) || undefined].filter(Boolean).join(':')
}

// codeOf returns the kind of code of a function; the guess of the server is marked.
export function codeOf(frame: Pick<Frame, 'in_app' | 'guess'>): string {
  return (frame.in_app ? 'application' : 'library') + (frame.guess ? ' (guess)' : '')
}

// ago returns how long ago a time was, or the clock for a time that is not in the past.
export function ago(unixNano: string): string {
  const seconds = Math.round(Date.now() / 1000 - Number(BigInt(unixNano) / 1_000_000_000n))
  if (seconds < 0) return clock(unixNano)
  if (seconds < 60) return `${seconds} s ago`
  return seconds < 3600 ? `${Math.floor(seconds / 60)} min ago` : seconds < 172800 ? `${Math.floor(seconds / 3600)} h ago` : `${Math.floor(seconds / 86400)} days ago`
}

const compact = new Intl.NumberFormat('en', { maximumSignificantDigits: 4, notation: 'compact' })

// Units of metrics (UCUM) that are shown as durations and as sizes.
const seconds: Record<string, number> = { h: 3600e9, min: 60e9, s: 1e9, ms: 1e6, us: 1e3, 'µs': 1e3, ns: 1 }
const sizes: Record<string, number> = { By: 1, kBy: 1e3, MBy: 1e6, GBy: 1e9, KiBy: 1 << 10, MiBy: 1 << 20, GiBy: 1 << 30 }

// number returns a value of a metric. Units in braces are annotations; the name of the metric says the same.
export function number(n: number, unit = ''): string {
  if (seconds[unit]) return duration(n * seconds[unit])
  if (sizes[unit]) return bytes(n * sizes[unit])
  if (unit === '%') return compact.format(n) + '%'
  return compact.format(n) + (unit === '1' || /^(\{.*\})?$/.test(unit) ? '' : ' ' + unit)
}
