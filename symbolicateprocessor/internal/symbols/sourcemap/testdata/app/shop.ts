// A small application for minifiers: the forms of functions that appear in stacks.
import { Basket, discountOf } from "./basket";

export class Checkout {
  static #count = 0;
  private basket = new Basket();
  onPaid = (total: number) => this.report(total);

  constructor(private readonly currency: string) {
    Checkout.#count++;
  }

  get total(): number {
    return this.basket.items.reduce((sum, item) => sum + item.price * item.quantity, 0);
  }

  add(name: string, price: number, quantity = 1): this {
    if (price < 0) throw new RangeError(`negative price of ${name.replace(/[/"'`{]/g, "?")}: ${price}`);
    this.basket.items.push({ name, price, quantity });
    return this;
  }

  async pay(): Promise<string> {
    const rebate = discountOf(this.total);
    return new Promise((resolve) => setTimeout(function finish() { resolve(format(rebate)); }, 1));
    function format(amount: number) { return amount > 0 ? `${amount.toFixed(2)} €` : "–"; }
  }

  private report(total: number) {
    return { text: `${total} ${this.currency}`, log() { console.log(this.text); }, "to-json": () => JSON.stringify(total) };
  }

  static of(currency: string) { return new Checkout(currency); }
}

export const handlers = {
  click: async (event: string) => { await Promise.resolve(); return parse(event); },
  *pages(n: number) { for (let i = 0; i < n; i++) yield i / 2; },
  nested: { deep: function () { return fail(); } },
};

const parse = (text: string) => text.split(/,|\//).map((part) => part.length > 3 ? (x: number) => x + part.length : (y: number) => y / 2);
function fail(): never { throw new Error("deep"); }

Basket.prototype.describe = function () { return this.items.map(describeItem).join(); };
function describeItem(item: { name: string }) { return item.name; }

const checkout = Checkout.of("EUR").add("tea", 3.5).add("pot", 20, 2);
checkout.pay().then(console.log, (reason) => { console.error(reason); });
console.log(checkout.onPaid(checkout.total), handlers.click("a,b"), [...handlers.pages(3)], checkout["basket"].describe());
try { handlers.nested.deep(); } catch { console.log("caught"); }
