// The script of the page that workload.mjs opens; it calls shop() and gets what the SDK handed to its transport and what it says
// it has dropped, and how long the busy functions took.
import * as Sentry from '@sentry/browser';

const rounds = 10;
const said = { version: Sentry.SDK_VERSION, spans: [], profiles: [], errors: [], logs: [], dropped: {}, busy: [] };

const spanOf = ({ trace_id, span_id }) => `${trace_id}/${span_id}`;
const notes = {
  transaction: (event) => said.spans.push(...[event.contexts.trace, ...event.spans].map(spanOf)),
  span: ({ items }) => said.spans.push(...items.map(spanOf)),
  profile_chunk: ({ chunk_id }) => said.profiles.push(chunk_id),
  event: ({ event_id }) => said.errors.push(event_id),
  log: ({ items }) => said.logs.push(...items.map(({ body }) => body)),
};

function init(dsn, mode) {
  const client = Sentry.init({
    dsn,
    release: 'shop@1.0.0',
    integrations: [Sentry.browserTracingIntegration(), Sentry.browserProfilingIntegration()],
    tracesSampleRate: 1,
    profileSessionSampleRate: 1,
    profileLifecycle: mode === 'manual' ? 'manual' : 'trace',
    traceLifecycle: mode === 'stream' ? 'stream' : 'static',
    enableLogs: true,
    // By default all spans of a page are children of its root: then none of those that ran at the same time is known to have run
    // the code, and samples belong to the root.
    parentSpanIsAlwaysRootSpan: false,
  });
  const transport = client.getTransport();
  const send = transport.send.bind(transport);
  transport.send = (envelope) => {
    envelope[1].forEach(([{ type }, payload]) => notes[type]?.(payload));
    return send(envelope);
  };
  const recordDroppedEvent = client.recordDroppedEvent.bind(client);
  client.recordDroppedEvent = (reason, category, count = 1) => {
    const what = `${category} ${reason}`;
    said.dropped[what] = (said.dropped[what] ?? 0) + (typeof count === 'number' ? count : 1);
    recordDroppedEvent(reason, category, count);
  };
}

function spin(milliseconds) {
  const end = performance.now() + milliseconds;
  let x = 1;
  while (performance.now() < end) x = Math.sqrt(x + 1.7);
  return x;
}
function priceCart(milliseconds) { return spin(milliseconds); }
function checkStock(milliseconds) { return spin(milliseconds); }

function run(work, milliseconds, name) {
  Sentry.startSpan({ name, op: 'task' }, () => {
    const start = performance.now();
    work(milliseconds);
    let entry = said.busy.find((known) => known.span === name);
    if (!entry) said.busy.push(entry = { function: work.name, span: name, thread: 'main', seconds: 0 });
    entry.seconds += (performance.now() - start) / 1000;
  });
}

// answers sends three errors, one after the other: the effect of a response on the SDK shows in the next errors.
window.answers = async (dsn) => {
  init(dsn, 'manual');
  for (let number = 0; number < 3; number++) {
    Sentry.captureMessage(`message ${number}`, 'error');
    await Sentry.flush(10000);
  }
  return said;
};

window.shop = async (dsn, mode) => {
  init(dsn, mode);
  if (mode === 'manual') Sentry.uiProfiler.startProfiler();
  Sentry.startSpan({ name: 'checkout', op: 'task', forceTransaction: true }, () => {
    for (let i = 0; i < rounds; i++) {
      Sentry.startSpan({ name: 'order', op: 'task' }, () => {
        run(priceCart, 350, 'price');
        run(checkStock, 150, 'stock');
      });
    }
  });
  Sentry.captureException(new TypeError('coupon'));
  Sentry.logger.warn('stock low');
  await new Promise((done) => setTimeout(done, 1500)); // the page load ends by itself a second after its last request
  if (mode === 'manual') Sentry.uiProfiler.stopProfiler();
  await new Promise((done) => setTimeout(done, 500));
  await Sentry.flush(20000);
  return said;
};
