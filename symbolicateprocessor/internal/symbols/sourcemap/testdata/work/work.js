// work.ts
var rounds = 60;
function hash(steps) {
  let x = 1;
  for (let i = 0; i < steps; i++) x = (x * 31 + i) % 65521;
  return x;
}
var Warehouse = class {
  shelves = [3e5, 2e5, 3e5];
  restock() {
    let sum = 0;
    for (const shelf of this.shelves) for (let i = 0; i < shelf; i++) sum = Math.sqrt(sum + i);
    return sum;
  }
  static inventory = (count) => {
    let sum = 0;
    for (let i = 0; i < count; i++) sum = (sum * 17 + i) % 65521;
    return sum;
  };
  get value() {
    let sum = 0;
    for (let i = 0; i < 8e5; i++) sum = Math.sqrt(sum + i);
    return sum;
  }
};
var price = (steps) => {
  let x = 1;
  for (let i = 0; i < steps; i++) x = Math.sqrt(x + i);
  return x;
};
var sortOrders = function(n) {
  let x = 1;
  for (let i = 0; i < n; i++) x = (x * 13 + i) % 65521;
  return x;
};
var jobs = {
  async invoice(amount) {
    await null;
    let x = 1;
    for (let i = 0; i < amount; i++) x = Math.sqrt(x + i);
    return x;
  },
  nested: { total: (n) => {
    let x = 1;
    for (let i = 0; i < n; i++) x = (x * 7 + i) % 65521;
    return x;
  } }
};
async function main() {
  const warehouse = new Warehouse();
  let total = 0;
  for (let i = 0; i < rounds; i++) {
    total += warehouse.restock() + Warehouse.inventory(8e5) + warehouse.value + sortOrders(8e5) + hash(8e5) + price(16e5);
    total += await jobs.invoice(8e5) + jobs.nested.total(8e5);
  }
  console.log(total > 0);
}
main();
