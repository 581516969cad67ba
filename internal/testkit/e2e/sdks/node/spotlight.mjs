// Sends an error and a transaction to Spotlight, with Sentry's Node SDK and without a DSN. SENTRY_SPOTLIGHT says where to.
//
// Prints as JSON what was captured.
import { createRequire } from 'node:module';

const require = createRequire(new URL(`./installed/${process.argv[2]}/package.json`, import.meta.url));
const Sentry = require('@sentry/node');
Sentry.init({ release: 'shop@1.0.0', tracesSampleRate: 1, traceLifecycle: 'static' });
const spans = [];
await Sentry.startSpan({ name: 'checkout', op: 'task' }, async (span) => {
  const { traceId, spanId } = span.spanContext();
  spans.push(`${traceId}/${spanId}`);
  await new Promise((done) => setTimeout(done, 100));
});
const error = Sentry.captureException(new TypeError('coupon'));
await Sentry.flush(20000);
console.log(JSON.stringify({ version: Sentry.SDK_VERSION, spans, errors: [error] }));
