// What a small shop does, with Sentry's Node SDK. SENTRY_DSN says where to; the arguments are the version, whose folder has the
// packages, and how to profile.
//
// Prints as JSON what the SDK handed to its transport and what it says it has dropped, and how long the busy functions took.
//
// A worker thread has an SDK of its own, which sends spans but no profiles: samplers are for the main thread only.
import { createRequire } from 'node:module';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

const [version, scenario] = isMainThread ? process.argv.slice(2) : workerData;
const alone = scenario === 'stream-one-thread';
const mode = alone ? 'stream' : scenario;
const require = createRequire(new URL(`./installed/${version}/`, import.meta.url));
const Sentry = require('@sentry/node');
const rounds = 10;

const options = {
  dsn: process.env.SENTRY_DSN,
  release: 'shop@1.0.0',
  tracesSampleRate: 1,
  enableLogs: true,
  traceLifecycle: mode === 'stream' ? 'stream' : 'static', // 11 streams where nothing is said
  integrations: [],
};
if (mode !== 'none') options.integrations.push(require('@sentry/profiling-node').nodeProfilingIntegration());
if (mode === 'v1') options.profilesSampleRate = 1;
else if (mode !== 'none') Object.assign(options, { profileSessionSampleRate: 1, profileLifecycle: mode === 'manual' ? 'manual' : 'trace' });
if (mode === 'stream' && Sentry.spanStreamingIntegration) options.integrations.push(Sentry.spanStreamingIntegration());
const client = Sentry.init(options);

const said = { version: Sentry.SDK_VERSION, spans: [], profiles: [], errors: [], logs: [], dropped: {}, busy: [] };
const spanOf = ({ trace_id, span_id }) => `${trace_id}/${span_id}`;
const notes = {
  transaction: (event) => said.spans.push(...[event.contexts.trace, ...event.spans].map(spanOf)),
  span: ({ items }) => said.spans.push(...items.map(spanOf)),
  profile: ({ event_id }) => said.profiles.push(event_id),
  profile_chunk: ({ chunk_id }) => said.profiles.push(chunk_id),
  event: ({ event_id }) => said.errors.push(event_id),
  log: ({ items }) => said.logs.push(...items.map(({ body }) => body)),
};
const transport = client.getTransport();
const send = transport.send.bind(transport);
transport.send = (envelope) => { // chunks come here without any of the client's hooks
  envelope[1].forEach(([{ type }, payload]) => notes[type]?.(payload));
  return send(envelope);
};
const recordDroppedEvent = client.recordDroppedEvent.bind(client);
client.recordDroppedEvent = (reason, category, count = 1) => {
  const what = `${category} ${reason}`;
  said.dropped[what] = (said.dropped[what] ?? 0) + (typeof count === 'number' ? count : 1);
  recordDroppedEvent(reason, category, count);
};

function spin(milliseconds) {
  const end = performance.now() + milliseconds;
  let x = 1;
  while (performance.now() < end) x = Math.sqrt(x + 1.7);
  return x;
}
function priceCart(milliseconds) { return spin(milliseconds); }
function checkStock(milliseconds) { return spin(milliseconds); }
function renderPage(milliseconds) { return spin(milliseconds); }
function compressPage(milliseconds) { return spin(milliseconds); }

function run(work, milliseconds, name) {
  Sentry.startSpan({ name, op: 'task' }, () => {
    const start = performance.now();
    work(milliseconds);
    let entry = said.busy.find((known) => known.span === name);
    if (!entry) said.busy.push(entry = { function: work.name, span: name, thread: 'main', seconds: 0 });
    entry.seconds += (performance.now() - start) / 1000;
  });
}

function checkout() {
  Sentry.startSpan({ name: 'order', op: 'task' }, () => {
    run(priceCart, 350, 'price');
    run(checkStock, 150, 'stock');
  });
}
function report() {
  run(renderPage, 300, 'render');
  run(compressPage, 200, 'compress');
}

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

async function work(name, round) {
  if (mode === 'manual') Sentry.profiler.startProfiler();
  await Sentry.startSpan({ name, op: 'task' }, async () => {
    for (let i = 0; i < rounds; i++) {
      round();
      await pause(1); // others would have their turn
    }
  });
  Sentry.captureException(new TypeError('coupon'));
  Sentry.logger.warn('stock low');
  if (mode === 'manual') Sentry.profiler.stopProfiler();
  await pause(500);
  await Sentry.close(20000);
}

if (isMainThread) {
  const other = alone ? {} : new Promise((done, failed) => {
    new Worker(new URL(import.meta.url), { workerData: [version, scenario] }).on('message', done).on('error', failed);
  });
  await work('checkout', checkout);
  for (const [what, list] of Object.entries(await other)) {
    if (what !== 'busy' && Array.isArray(list)) said[what].push(...list);
  }
  console.log(JSON.stringify(said));
  process.exit(0);
} else {
  await work('report', report);
  parentPort.postMessage(said);
}
