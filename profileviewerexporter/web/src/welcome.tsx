import { useState } from 'preact/hooks'
import type { Notices } from './api'
import { Held, rejectedCount } from './notices'

// Welcome is the page without data: how to send some.
export function Welcome({ notices }: { notices?: Notices }) {
  const dsn = notices?.endpoints.find((e) => e.kind === 'dsn')?.url
  const spotlight = notices?.endpoints.find((e) => e.kind === 'spotlight')?.url
  const rejected = rejectedCount(notices)
  return (
    <div class="welcome">
      <h1>No data yet</h1>
      <p>Profiles, traces and log records appear here when the collector receives them.</p>
      {notices?.held ? <p class="note" role="status"><Held notices={notices} />.</p> : null}
      {rejected > 0 && <p class="warn" role="alert">Some data was rejected. <a href="#/problems">Show the reasons</a></p>}
      {dsn && <Setup dsn={dsn} />}
      {spotlight && (
        <>
          <h2>Without a DSN</h2>
          <p>Start your application with Spotlight's environment variable (Python, Node.js):</p>
          <Code text={spotlight.endsWith(':8969/stream') ? 'SENTRY_SPOTLIGHT=1' : 'SENTRY_SPOTLIGHT=' + spotlight} />
        </>
      )}
      <h2>Without an SDK</h2>
      <p><code>make demo</code> sends recorded data.</p>
    </div>
  )
}

function Setup({ dsn }: { dsn: string }) {
  const [chosen, choose] = useState('Python')
  return (
    <>
      <h2>In your SDK</h2>
      <div class="choice" role="group" aria-label="SDK">
        {Object.keys(setups).map((name) => <button key={name} type="button" aria-pressed={chosen === name} onClick={() => choose(name)}>{name}</button>)}
      </div>
      <Code text={setups[chosen]!(dsn)} />
      <p class="note">The part of the release before @ becomes the name of the service.</p>
    </>
  )
}

const setups: Record<string, (dsn: string) => string> = {
  Python: (dsn) => `sentry_sdk.init(
    dsn="${dsn}",
    release="shop@1.0",
    traces_sample_rate=1.0,
    profile_session_sample_rate=1.0,
    profile_lifecycle="trace",
)`,
  'Node.js': (dsn) => `// the same version of @sentry/node and @sentry/profiling-node
Sentry.init({
  dsn: "${dsn}",
  release: "shop@1.0",
  integrations: [nodeProfilingIntegration()],
  tracesSampleRate: 1, profileSessionSampleRate: 1, profileLifecycle: "trace",
});`,
  Browser: (dsn) => `// serve the page with the header Document-Policy: js-profiling
Sentry.init({
  dsn: "${dsn}",
  release: "shop-web@1.0",
  integrations: [Sentry.browserTracingIntegration(), Sentry.browserProfilingIntegration()],
  tracesSampleRate: 1, profileSessionSampleRate: 1, profileLifecycle: "trace",
});`,
  Java: (dsn) => `// for profiles: io.sentry:sentry-async-profiler
Sentry.init(options -> {
  options.setDsn("${dsn}");
  options.setRelease("shop@1.0");
  options.setTracesSampleRate(1.0);
  options.setProfileSessionSampleRate(1.0);
  options.setProfileLifecycle(ProfileLifecycle.TRACE);
});`,
  Go: (dsn) => `sentry.Init(sentry.ClientOptions{
	Dsn:              "${dsn}",
	Release:          "shop@1.0",
	EnableTracing:    true,
	TracesSampleRate: 1,
})`,
}

// Code is a text with a button that copies it.
function Code({ text }: { text: string }) {
  const [copied, setCopied] = useState('')
  return (
    <div class="code">
      <pre tabIndex={0}><code>{text}</code></pre>
      {navigator.clipboard && (
        <button type="button" class="quiet" onClick={() => navigator.clipboard.writeText(text).then(() => setCopied(text), () => setCopied(''))}>
          <span role="status">{copied === text ? 'Copied' : 'Copy'}</span>
        </button>
      )}
    </div>
  )
}
