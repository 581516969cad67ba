// Sends three errors, one after the other, with Sentry's Node SDK, and prints as JSON what the SDK says it has dropped.
// SENTRY_DSN says where to. What a response does to an SDK shows in the next errors.
import { createRequire } from 'node:module';

const require = createRequire(new URL(`./installed/${process.argv[2]}/package.json`, import.meta.url));
const Sentry = require('@sentry/node');
const dropped = {};
const record = Sentry.NodeClient.prototype.recordDroppedEvent; // the transport binds it when it is made
Sentry.NodeClient.prototype.recordDroppedEvent = function (reason, category, count = 1) {
  const key = `${category} ${reason}`;
  dropped[key] = (dropped[key] || 0) + (typeof count === 'number' ? count : 1);
  return record.call(this, reason, category, count);
};
Sentry.init({ defaultIntegrations: false });
for (let number = 0; number < 3; number++) {
  Sentry.captureMessage(`message ${number}`, 'error');
  await Sentry.flush(10000);
}
console.log(JSON.stringify({ Version: Sentry.SDK_VERSION, Dropped: dropped }));
