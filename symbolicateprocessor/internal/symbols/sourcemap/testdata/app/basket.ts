export interface Item { name: string; price: number; quantity: number }

export class Basket {
  items: Item[] = [];
  declare describe: () => string;
}

export function discountOf(total: number, rates: number[] = [0.1, 0.2].filter((rate) => rate > 0)) {
  const best = rates.length > 1 ? rates.reduce(function highest(a, b) { return a > b ? a : b; }) : 0;
  return total * best;
}
