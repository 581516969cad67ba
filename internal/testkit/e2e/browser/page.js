// The script of a page that uses Sentry's SDK as an application does; sdk.mjs calls it.
import * as Sentry from '@sentry/browser';

Sentry.init({
  dsn: new URLSearchParams(location.search).get('dsn'),
  release: 'storefront@1.0.0',
  integrations: [Sentry.browserTracingIntegration(), Sentry.browserProfilingIntegration()],
  tracesSampleRate: 1,
  profileSessionSampleRate: 1,
  profileLifecycle: 'manual',
  enableLogs: true,
  // A header of the page's own makes the browser ask first (a preflight): the SDK's requests alone are too simple for that.
  transportOptions: { headers: { 'X-Requested-With': 'storefront' } },
});

window.shop = {
  fail: (message) => Sentry.captureException(new TypeError(message)),
  log: (message) => Sentry.logger.warn(message, { left: 2 }),
  count: (name) => Sentry.metrics.count(name, 1),
  work: (name) => Sentry.startSpan({ name, op: 'ui.action' }, () => busy(300)),
  startProfiler: () => Sentry.uiProfiler.startProfiler(),
  stopProfiler: () => Sentry.uiProfiler.stopProfiler(),
  flush: () => Sentry.flush(5000),
  // What browsers tell a page that is being left; the SDK then sends what it has dropped.
  hide: () => {
    Object.defineProperty(document, 'visibilityState', { value: 'hidden' });
    document.dispatchEvent(new Event('visibilitychange'));
    return Sentry.flush(5000);
  },
};

function busy(milliseconds) {
  const end = performance.now() + milliseconds;
  let x = 1;
  while (performance.now() < end) x = (x * 1.0001 + 1) % 7;
  return x;
}
