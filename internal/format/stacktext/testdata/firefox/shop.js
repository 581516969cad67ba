// Prints the trace of one failure (err.stack) in the shells of SpiderMonkey (gjs) and JavaScriptCore (jsc).
class Cart {
  constructor(sku) { if (sku === 'bad') throw new RangeError('bad sku'); this.sku = sku; }
  reserve() { throw new TypeError('no stock of ' + this.sku); }
  get total() { return this.missing.price; }
}

const cases = {
  method: () => new Cart('A').reserve(),
  constructed: () => new Cart('bad'),
  getter: () => new Cart('A').total,
  builtin: () => [1].map(function named() { new Cart('B').reserve(); }),
  evaluated: () => eval('(function inner() { undefined.x; })()'),
  created: () => new Function('a', 'return a.b.c')({}),
  anonymous: () => (() => { throw new Error('anonymous'); })(),
  async: async () => { await null; throw new Error('later'); },
};

for (const name of Object.keys(cases)) {
  try {
    const pending = cases[name]();
    if (pending && pending.catch) pending.catch((e) => print('== ' + name + '\n' + e.stack));
  } catch (e) {
    print('== ' + name + '\n' + e.stack);
  }
}
