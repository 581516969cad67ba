// The shop with Sentry's Node SDK and OpenTelemetry's exporter for OTLP. SENTRY_DSN says where to.
import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';

const [version] = process.argv.slice(2);
const require = createRequire(new URL(`./installed/${version}/`, import.meta.url));
const Sentry = require('@sentry/node');
const { context, ROOT_CONTEXT, trace } = require('@opentelemetry/api');
const { OTLPTraceExporter } = require('@opentelemetry/exporter-trace-otlp-http');
const { resourceFromAttributes } = require('@opentelemetry/resources');
const { BasicTracerProvider, BatchSpanProcessor } = require('@opentelemetry/sdk-trace-base');

const dsn = process.env.SENTRY_DSN;
const said = { version, spans: [], errors: [], logs: [], busy: [] };
const noting = {
  onStart() {},
  onEnd(span) {
    const { traceId, spanId } = span.spanContext();
    said.spans.push(`${traceId}/${spanId}`);
  },
  shutdown: async () => {},
  forceFlush: async () => {},
};
const provider = new BasicTracerProvider({
  resource: resourceFromAttributes({ 'service.name': 'shop' }),
  spanProcessors: [noting, new BatchSpanProcessor(new OTLPTraceExporter(Sentry.getOtlpTracesEndpoint(dsn)))],
});
trace.setGlobalTracerProvider(provider);
const storage = new AsyncLocalStorage();
context.setGlobalContextManager({ // Sentry's SDK has none of its own for OpenTelemetry's spans
  active: () => storage.getStore() ?? ROOT_CONTEXT,
  with: (active, work, self, ...args) => storage.run(active, () => work.apply(self, args)),
  bind: (_, target) => target,
  enable() { return this; },
  disable() { return this; },
});
Sentry.init({ dsn, release: 'shop@1.0.0', enableLogs: true, integrations: [Sentry.openTelemetryIntegration()] });

const tracer = trace.getTracer('shop');
tracer.startActiveSpan('checkout', (checkout) => {
  tracer.startActiveSpan('price', (price) => price.end());
  said.errors.push(Sentry.captureException(new TypeError('coupon')));
  Sentry.logger.warn('stock low');
  said.logs.push('stock low');
  checkout.end();
});
await provider.shutdown();
await Sentry.close(20000);
console.error(`@sentry/node ${Sentry.SDK_VERSION}`);
console.log(JSON.stringify(said));
process.exit(0);
