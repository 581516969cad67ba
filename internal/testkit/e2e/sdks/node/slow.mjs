// A shop with a slow function, a slow query and a lock, with Sentry's Node SDK. SENTRY_DSN says where to; the argument is the version,
// whose folder has the packages.
//
// Prints its port, and serves until its input ends.
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

const lock = workerData ?? new Int32Array(new SharedArrayBuffer(8)); // a lock that the worker holds, and its clock

if (isMainThread) serve(process.argv[2]);
else work();

// work is a database, and another user of the lock.
function work() {
  const sleep = (milliseconds) => Atomics.wait(lock, 1, 0, milliseconds);
  parentPort.on('message', ({ kind, id }) => {
    if (kind === 'query') {
      sleep(350);
    } else {
      Atomics.store(lock, 0, 1);
      parentPort.postMessage({ id });
      sleep(60);
      Atomics.store(lock, 0, 0);
      Atomics.notify(lock, 0);
      return;
    }
    parentPort.postMessage({ id });
  });
}

async function serve(version) {
  const require = createRequire(new URL(`./installed/${version}/`, import.meta.url));
  const Sentry = require('@sentry/node');
  Sentry.init({
    dsn: process.env.SENTRY_DSN, release: 'slow-node@1.0.0', environment: 'test', tracesSampleRate: 1, traceLifecycle: 'static',
    integrations: [require('@sentry/profiling-node').nodeProfilingIntegration()], profileSessionSampleRate: 1, profileLifecycle: 'manual',
  });
  const http = require('node:http'); // after the SDK, which instruments it
  const worker = new Worker(new URL(import.meta.url), { workerData: lock });
  const answers = new Map();
  worker.on('message', ({ id }) => answers.get(id)());
  let last = 0;
  const ask = (kind) => new Promise((resolve) => { answers.set(++last, resolve); worker.postMessage({ kind, id: last }); });

  function loadOrders(customer) {
    const name = 'SELECT * FROM orders WHERE customer = ?';
    return Sentry.startSpan({ name, op: 'db.query', attributes: { 'db.system': 'sqlite', 'db.statement': name } }, async () => {
      await ask('query');
      return customer;
    });
  }
  function priceReport(month) {
    const end = performance.now() + 400;
    let total = month;
    while (performance.now() < end) total = Math.sqrt(total + 1.7);
    return total;
  }
  function reserveStock(item) {
    while (Atomics.load(lock, 0) === 1) Atomics.wait(lock, 0, 1);
    return item;
  }
  const routes = {
    report: priceReport,
    orders: loadOrders,
    cart: async (item) => { await ask('lock'); return reserveStock(item); },
  };
  const server = http.createServer(async (request, response) => {
    const [, route, id] = request.url.split('/');
    response.end(String(await routes[route](Number(id))));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  Sentry.profiler.startProfiler();
  console.log(server.address().port);
  process.stdin.resume();
  await once(process.stdin, 'end');
  Sentry.profiler.stopProfiler();
  await Sentry.close(20_000);
  process.exit();
}
