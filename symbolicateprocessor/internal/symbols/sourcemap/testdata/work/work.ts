// Work for V8's profiler: functions of several forms, each with a part of the time.
const rounds = 60;

function hash(steps: number): number {
  let x = 1;
  for (let i = 0; i < steps; i++) x = (x * 31 + i) % 65521;
  return x;
}

class Warehouse {
  private shelves = [3e5, 2e5, 3e5];
  restock(): number {
    let sum = 0;
    for (const shelf of this.shelves) for (let i = 0; i < shelf; i++) sum = Math.sqrt(sum + i);
    return sum;
  }
  static inventory = (count: number) => { let sum = 0; for (let i = 0; i < count; i++) sum = (sum * 17 + i) % 65521; return sum; };
  get value(): number { let sum = 0; for (let i = 0; i < 8e5; i++) sum = Math.sqrt(sum + i); return sum; }
}

const price = (steps: number): number => { let x = 1; for (let i = 0; i < steps; i++) x = Math.sqrt(x + i); return x; };
const sortOrders = function (n: number) { let x = 1; for (let i = 0; i < n; i++) x = (x * 13 + i) % 65521; return x; };
const jobs = {
  async invoice(amount: number) { await null; let x = 1; for (let i = 0; i < amount; i++) x = Math.sqrt(x + i); return x; },
  nested: { total: (n: number) => { let x = 1; for (let i = 0; i < n; i++) x = (x * 7 + i) % 65521; return x; } },
};

async function main() {
  const warehouse = new Warehouse();
  let total = 0;
  for (let i = 0; i < rounds; i++) {
    total += warehouse.restock() + Warehouse.inventory(8e5) + warehouse.value + sortOrders(8e5) + hash(8e5) + price(16e5);
    total += (await jobs.invoice(8e5)) + jobs.nested.total(8e5);
  }
  console.log(total > 0);
}
main();
