// An application with Sentry's SDK and functions of several forms, each with a part of the time; minified.mjs runs it.
import * as Sentry from '@sentry/browser';

Sentry.init({
  dsn: new URLSearchParams(location.search).get('dsn'),
  release: 'storefront@1.0.0',
  integrations: [Sentry.browserTracingIntegration(), Sentry.browserProfilingIntegration()],
  tracesSampleRate: 1,
  profileSessionSampleRate: 1,
  profileLifecycle: 'manual',
});

function hashCart(steps) {
  let x = 1;
  for (let i = 0; i < steps; i++) x = (x * 31 + i) % 65521;
  return x;
}

class Warehouse {
  shelves = [1e5, 2e5, 3e5];
  restockShelves() {
    let sum = 0;
    for (const shelf of this.shelves) for (let i = 0; i < shelf; i++) sum = Math.sqrt(sum + i);
    return sum;
  }
  static countInventory = (count) => { let sum = 0; for (let i = 0; i < count; i++) sum = (sum * 17 + i) % 65521; return sum; };
  get totalValue() { let sum = 0; for (let i = 0; i < 6e5; i++) sum = Math.sqrt(sum + i); return sum; }
}

const priceOrder = (steps) => { let x = 1; for (let i = 0; i < steps; i++) x = Math.sqrt(x + i); return x; };
const sortOrders = function (n) { let x = 1; for (let i = 0; i < n; i++) x = (x * 13 + i) % 65521; return x; };
const jobs = {
  async sendInvoice(amount) { await null; let x = 1; for (let i = 0; i < amount; i++) x = Math.sqrt(x + i); return x; },
  nested: { addTotal: (n) => { let x = 1; for (let i = 0; i < n; i++) x = (x * 7 + i) % 65521; return x; } },
};

async function sellOrders(milliseconds) {
  const warehouse = new Warehouse();
  let total = 0;
  for (const end = performance.now() + milliseconds; performance.now() < end;) {
    total += warehouse.restockShelves() + Warehouse.countInventory(6e5) + warehouse.totalValue + sortOrders(6e5) + hashCart(6e5) + priceOrder(12e5);
    total += (await jobs.sendInvoice(6e5)) + jobs.nested.addTotal(6e5);
  }
  return total;
}

// profiled resolves when the profile is sent.
window.profiled = async (milliseconds) => {
  Sentry.uiProfiler.startProfiler();
  await sellOrders(milliseconds);
  Sentry.uiProfiler.stopProfiler();
  await Sentry.flush(10_000);
};
