// What the page of page.js goes through: all that an SDK sends, then a backend that takes no spans for a while.
export default async function (page, url) {
  await page.evaluate(async () => {
    shop.startProfiler();
    shop.fail('cart is empty');
    shop.log('stock low');
    shop.count('orders');
    shop.work('checkout');
    shop.stopProfiler();
    await shop.flush();
  });

  await fetch(new URL('/busy', url));
  await page.evaluate(async () => {
    shop.work('refused');
    await shop.flush();
    shop.work('held back');
    shop.log('still sent');
    await shop.flush();
    await shop.hide();
  });
}
