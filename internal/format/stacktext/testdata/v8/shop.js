// Writes the trace of a failure as OpenTelemetry's SDK does (err.stack), and what V8 itself says of its frames.
const fs = require('fs');
const util = require('util');
const stock = require('stock');

class CheckoutError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = 'CheckoutError';
  }
}

class Cart {
  constructor(sku) {
    if (sku === 'bad') throw new RangeError('bad sku');
    this.sku = sku;
  }
  reserve() {
    throw new TypeError(`no stock of ${this.sku}`);
  }
  static open(sku) {
    return new Cart(sku);
  }
  get total() {
    return this.missing.price;
  }
  checkout() {
    try {
      this.reserve();
    } catch (cause) {
      throw new CheckoutError('order failed', { cause });
    }
  }
}

const cases = {
  method: () => new Cart('A').reserve(),
  constructed: () => Cart.open('bad'),
  getter: () => new Cart('A').total,
  library: () => stock.each(['x'], function named() { new Cart('B').reserve(); }),
  evaluated: () => eval('(function inner() { JSON.parse("{"); })()'),
  created: () => new Function('a', 'return a.b.c')({}),
  internal: () => fs.readFileSync('/missing'),
  multiline: () => { throw new Error('two\nlines: and\n    at no frame (of.js:1:2)\nof it'); },
  alias: () => { const o = { first() { throw new Error('aliased'); } }; o.second = o.first; o.second(); },
  anonymous: () => (() => { throw new Error(); })(),
  symbol: () => ({ [Symbol.iterator]() { throw new Error('symbol'); } })[Symbol.iterator](),
  async: async () => {
    const wait = async () => { await null; throw new Error('later'); };
    await Promise.all([wait(), null]);
  },
  chained: () => new Cart('C').checkout(),
  aggregate: () => { throw new AggregateError([new Error('one'), new TypeError('two')], 'both failed'); },
};

// V8 formats a trace as a headline and the lines of its frames.
Error.prepareStackTrace = (error, sites) => {
  error.sites ??= sites;
  return [error, ...sites.map((site) => `    at ${site}`)].join('\n');
};

function frames({ sites }) {
  return [...sites].reverse().map((site) => {
    const file = site.getFileName() ?? '';
    const line = site.getLineNumber();
    return `  ${file}${line ? `:${line}:${site.getColumnNumber()}` : ''}\n`;
  }).join('');
}

(async () => {
  for (const name of Object.keys(cases)) {
    try {
      await cases[name]();
    } catch (error) {
      fs.writeFileSync(`${name}.txt`, error.stack);
      fs.writeFileSync(`${name}.frames`, frames(error));
      delete error.sites;
      if (name === 'chained' || name === 'aggregate') fs.writeFileSync(`inspected_${name}.txt`, util.inspect(error));
    }
  }
})();
