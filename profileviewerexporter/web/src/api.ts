// What the exporter answers. The types are those of the exporter's responses; times are Unix nanoseconds in text, durations numbers.

// Limited is part of every response: the number of texts that are shortened and of entries that are left out to keep it below 8 MB.
export interface Limited { omitted?: number }

export interface Measure { type: string; unit: string }

export interface ProfileListing {
  id: string
  service: string
  name?: string
  profile_id?: string
  start: string
  duration: number
  threads: number
  samples: number
  weight: number
  measure: Measure
  spans: number
  traces?: string[]
  arrived: string
}

export interface TraceListing {
  id: string
  name: string
  services: string[]
  start: string
  duration: number
  spans: number
  errors: number
  logs: number
  profiles: number
  arrived: string
}

export interface Service { name: string; profiles: number; traces: number; errors: number; logs: number; points: number; arrived: string }

export interface Services extends Limited { services: Service[]; count: number }
export interface Profiles extends Limited { profiles: ProfileListing[]; count: number }
export interface Traces extends Limited { traces: TraceListing[]; count: number }

export interface Overview extends Limited {
  bytes: number
  max_bytes: number
  max_age: number
  evicted: number
  dropped: number
  services: Service[]
  profile_count: number
  trace_count: number
}

// Imported states what an imported file contains, and what was lost.
export interface Imported extends Limited {
  format: string
  profiles: number
  spans: number
  logs: number
  points: number
  losses: { what: string; count: number }[]
}

// Notices are facts about the other components of the collector.
export interface Notices extends Limited {
  endpoints: { kind: 'dsn' | 'spotlight'; url: string }[]
  notices: Notice[]
  held?: number // messages of profiles that wait for their spans
  held_for?: number // seconds
}

export interface Notice { component: string; service: string; subject: string; reason: string; detail: string; count: number; last: string }

export interface Attribute { key: string; value: string; unit?: string }

export interface Thread {
  id: string
  name: string
  samples: number
  busy: number
  idle: number
  activity?: number[]
}

export interface SpanSamples { trace: string; span: string; name: string; samples: number; weight: number; start?: string; duration?: number }

export interface Profile extends ProfileListing, Limited {
  resource: Attribute[]
  scope: string
  attributes: Attribute[]
  thread_list: Thread[]
  span_list: SpanSamples[]
  broken: number
}

export interface Frame { number: number; name: string; file?: string; module?: string; in_app?: boolean; guess?: boolean } // guess: the profiler does not state in_app

// Drawing is the visible part of a graph: see boxes.ts.
export interface Drawing { smallest: number; boxes: number[][]; frames: Frame[] | null }

export interface Graph extends Limited, Drawing {
  profiles: string[]
  origin: string
  measure: Measure
  total: number
  idle: number
  samples: number
  cut: number
}

export interface MergedGraph extends Graph {
  matched?: number
  waiting?: number // weight of threads that wait outside of spans
  minified?: number // self weight of functions whose names are probably minified
  symbolicated?: boolean
  top?: (Frame & { self: number; total: number })[]
  causes?: Cause[]
  threads?: { id: string; name: string; weight: number }[]
  spans?: SpanSamples[]
}

// Cause is something that takes time: a function with the library functions that it calls, a wait, or a call of the service.
export interface Cause {
  kind: 'function' | 'wait' | 'database' | 'remote'
  name: string
  number?: number
  file?: string
  line?: number
  wait?: string
  operation?: string
  trace?: string
  span?: string
  weight: number
  samples: number
  estimated?: boolean
}

export interface OrderedGraph extends Graph {
  from: number
  to: number
}

export interface FrameDetail extends Frame, Limited {
  system?: string
  start_line?: number
  self: number
  total: number
  of: number // total of the selection
  samples: number
  lines: { line?: number; column?: number; address?: string; self: number; total: number }[]
  line_count: number
  spans: SpanSamples[]
  unlinked: number
  attributes: { key: string; values: string[]; unit?: string; more?: boolean }[]
}

// SpanDetail has the fields that the row of a span leaves out.
export interface SpanDetail extends Limited {
  name: string
  reported?: string // the name that the SDK reported, if it differs
  kind: string
  status?: string
  attributes: Attribute[]
  events: { name: string; at: number; attributes: Attribute[] }[] // at: nanoseconds after the start of the span
  event_count: number
}

export interface LogRecord {
  time: string
  service: string
  severity: string
  body: string
  error?: boolean // it has an exception
  trace?: string
  span?: string
  attributes: Attribute[]
}

export interface Logs extends Limited { records: LogRecord[]; count: number; unread: number; activity: number[]; first: string; last: string }

// Series are the points of a metric of a service with equal attributes.
export interface Series {
  name: string
  unit?: string
  kind: 'sum' | 'total' | 'gauge' | 'distribution' | 'count' // total: a cumulative sum; count: of a distribution without a sum
  service: string
  labels: Attribute[]
  points: number
  latest: number
  low: number
  high: number
  sum: number
  values: (number | null)[] // of equal steps of time
}

export interface Metrics extends Limited { series: Series[]; count: number; unread: number; first: string; last: string }

// ErrorGroup is a group of equal errors.
export interface ErrorGroup {
  id: string
  type: string
  message: string
  place: string // the innermost application frame
  services: string[]
  handled?: boolean
  count: number
  first: string
  last: string
  activity: number[]
}

export interface ErrorGroups extends Limited { groups: ErrorGroup[]; count: number; errors: number; unread: number }

export interface Occurrence { key: string; time: string; service: string; trace?: string; span?: string }

export interface StackFrame {
  function: string
  module?: string
  file?: string
  line?: number
  column?: number
  in_app?: boolean
  guess?: boolean
  before?: string[]
  source?: string
  after?: string[]
  vars?: Attribute[]
  raw?: { function: string; module?: string; file?: string; line?: number; column?: number } // as the SDK reported it, before symbolication
  depth?: number // in a tree, the number of callers
  samples?: number
}

export interface StackException { type: string; message: string; handled?: boolean; tree?: boolean; frames: StackFrame[]; missing: number }

export interface Breadcrumb { time: string; type?: string; category?: string; level?: string; message?: string; data?: Attribute[] }

export interface ErrorRecord extends Occurrence {
  release?: string
  environment?: string
  sdk?: string
  thread?: string
  body?: string
  exceptions: StackException[]
  breadcrumbs: Breadcrumb[]
  attributes: Attribute[]
  samples?: { profile: string; thread?: string; from: number; to: number } // around the error
  profile?: string // with samples of the trace
}

export interface ErrorDetail extends Limited { group: ErrorGroup; releases: { name: string; count: number; first: string; last: string }[]; occurrences: Occurrence[]; error: ErrorRecord }

// TraceRows are the spans of a trace in a compact form: see rows.ts.
export interface TraceRows extends Limited { origin: string; end: number; count: number; names: string[]; ids: string; rows: number[][] }

export interface Trace extends TraceListing, Limited {
  log_list: LogRecord[]
  origin: string
}

export interface Comparison extends Graph {
  before: number
  after: number
  before_samples: number
  after_samples: number
  before_profiles: number
  after_profiles: number
  changes?: ChangedFunction[]
}

// ChangedFunction is a function of a comparison; the weights of the first selection are scaled.
export interface ChangedFunction extends Frame {
  before_self: number
  before_total: number
  after_self: number
  after_total: number
  before_self_samples: number
  before_total_samples: number
  after_self_samples: number
  after_total_samples: number
  self_chance?: boolean // chance explains the difference
  total_chance?: boolean
}

export interface ServiceDetail extends Limited {
  profiles: number
  first: string
  last: string
  releases: { name: string; profiles: number; first: string; last: string }[]
}

// Operation sums the spans of a service with a name and kind.
export interface Operation {
  name: string
  kind: string
  count: number
  rate: number // per second
  p50: number
  p95: number
  p99: number
  errors: number
  total: number
  database: number // part of total in calls to databases
  remote: number // part of total in calls to services
  own: number
  samples: number
  slowest: { trace: string; span: string; duration: number }[]
}

export interface Operations extends Limited { operations: Operation[]; count: number; start: string; end: string; unread?: boolean }

// Selection selects samples: those of profiles, or those of a span in all profiles.
export interface Selection {
  profiles: string[]
  trace?: string
  span?: string
  service?: string // with a window of time and, perhaps, a release
  window?: string
  release?: string
  operation?: string // of the service, with its kind
  kind?: string
  thread?: string
  from?: number // nanoseconds after the origin
  to?: number
  active?: 1 // without threads that wait outside of spans
  linked?: 1 // only samples with a span
  collapse?: 1 // without library functions that library functions call
  raw?: 1 // with the names before symbolication
  focus?: string // numbers of functions; see changes.tsx
  hide?: string
  fold?: string
}

export function query(selection: Selection, more: Record<string, string | number> = {}): string {
  const q = new URLSearchParams()
  for (const id of selection.profiles) q.append('profile', id)
  const { profiles: _, ...rest } = selection
  for (const [key, value] of Object.entries({ ...rest, ...more })) {
    if (value !== undefined) q.set(key, String(value))
  }
  return q.toString()
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return JSON.parse(await getText(path, signal)) as T
}

// getText returns the response as JSON text.
export async function getText(path: string, signal?: AbortSignal): Promise<string> {
  const response = await fetch('api/' + path, { signal: signal ?? null })
  const text = await response.text()
  if (!response.ok) throw new Error(JSON.parse(text).error ?? response.statusText)
  return text
}
