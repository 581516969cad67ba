// SPDX-License-Identifier: Apache-2.0
//
// Fails in several ways under one of two SDKs: failures.mjs otel|sentry spans|logs|dup
//
// The functions that fail are the same, so both SDKs see the same stacks. Each failure has a message of its own.
import { createRequire } from 'node:module';

const [sdk, mode] = process.argv.slice(2);
const require = createRequire(new URL('./installed/otel/', import.meta.url));
Error.stackTraceLimit = 50; // as Sentry's SDK sets it
let name = '';

class PaymentError extends Error {
  name = 'PaymentError';
}

class OrderError extends Error {
  name = 'OrderError';
}

function pay() {
  throw new PaymentError(`card declined: ${name}`);
}

function chained() {
  try {
    pay();
  } catch (e) {
    throw new OrderError('order 17', { cause: e });
  }
}

const nested = () => within('inner', () => within('innermost', pay));

async function fetchPrice() {
  await new Promise((resolve) => setImmediate(resolve));
  throw new TypeError('no answer');
}

async function asynchronous() {
  await Promise.all([fetchPrice()]);
}

function reraised() {
  try {
    pay();
  } catch (e) {
    throw e;
  }
}

function library() {
  JSON.parse('{');
}

function recursive(n = 20) {
  return n ? recursive(n - 1) : pay();
}

class Cart {
  static checkout() {
    [1].forEach((item) => new Cart().add(item));
  }

  add() {
    pay();
  }
}

function methods() {
  Cart.checkout();
}

// within runs a function in a span, which records its exception. Sentry's SDK has no part in it.
async function within(span, work) {
  const outer = current;
  current = start(span, outer);
  try {
    return await work();
  } catch (e) {
    current.fail(e);
    throw e;
  } finally {
    current.end();
    current = outer;
  }
}

let current;
let start = () => ({ fail() {}, end() {} });
let report;
let flush;

if (sdk === 'sentry') {
  const Sentry = require('@sentry/node');
  Sentry.init({ dsn: process.env.SENTRY_DSN });
  report = (e) => Sentry.captureException(e);
  flush = () => Sentry.flush(20_000);
} else {
  const { trace, ROOT_CONTEXT, SpanStatusCode } = require('@opentelemetry/api');
  const { resourceFromAttributes } = require('@opentelemetry/resources');
  const { BasicTracerProvider, BatchSpanProcessor } = require('@opentelemetry/sdk-trace-base');
  const { OTLPTraceExporter } = require('@opentelemetry/exporter-trace-otlp-http');
  const { LoggerProvider, BatchLogRecordProcessor } = require('@opentelemetry/sdk-logs');
  const { OTLPLogExporter } = require('@opentelemetry/exporter-logs-otlp-http');

  const resource = resourceFromAttributes({
    'service.name': 'shop', 'telemetry.sdk.name': 'opentelemetry', 'telemetry.sdk.language': 'nodejs',
  });
  const traces = new BasicTracerProvider({
    resource, spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url: `${process.env.OTLP}/v1/traces` }))],
  });
  const logs = new LoggerProvider({
    resource, processors: [new BatchLogRecordProcessor({ exporter: new OTLPLogExporter({ url: `${process.env.OTLP}/v1/logs` }) })],
  });
  const tracer = traces.getTracer('failures');
  const logger = logs.getLogger('failures');

  start = (spanName, outer) => {
    const span = tracer.startSpan(spanName, {}, outer ? trace.setSpan(ROOT_CONTEXT, outer.span) : ROOT_CONTEXT);
    return {
      span,
      fail(e) {
        if (mode !== 'logs') span.recordException(e);
        span.setStatus({ code: SpanStatusCode.ERROR });
      },
      end: () => span.end(),
    };
  };
  report = (e) => {
    if (mode === 'spans') return;
    logger.emit({
      severityNumber: 17, severityText: 'ERROR', body: 'failed', context: trace.setSpan(ROOT_CONTEXT, current.span),
      attributes: { 'exception.type': e.name, 'exception.message': e.message, 'exception.stacktrace': e.stack },
    });
  };
  flush = async () => {
    await traces.shutdown();
    await logs.shutdown();
  };
}

const cases = { pay, chained, nested, asynchronous, reraised, library, recursive, methods };
for (const [key, work] of Object.entries(cases)) {
  name = key;
  await within('request', async () => {
    try {
      await within(key, work);
    } catch (e) {
      report(e);
    }
  });
}
await flush();
console.log(Object.keys(cases).length);
