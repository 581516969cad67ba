<?php
// Writes the trace of a failure as PHP prints it and as OpenTelemetry's SDK does.
namespace Example\Shop;

class CheckoutException extends \RuntimeException {}

trait Reserves
{
    public static function reserve(string $sku, array $more = [])
    {
        throw new \LogicException("no stock of $sku");
    }
}

class Cart
{
    use Reserves;

    public function checkout()
    {
        try {
            self::reserve("SKU-1 (12): x", [1]);
        } catch (\LogicException $e) {
            throw new CheckoutException('order failed', 1, $e);
        }
    }

    public function __toString(): string
    {
        return self::reserve('text');
    }
}

function checkout()
{
    (new Cart())->checkout();
}

$cases = [
    'chained' => fn () => checkout(),
    'closure' => function () { array_map(fn ($x) => Cart::reserve($x), ['a']); },
    'multiline' => function () { throw new \Exception("two\nlines: and\n#0 x.php(1): y()\nof it"); },
    'type' => fn () => strlen([]),
    'evaluated' => function () { eval('\Example\Shop\checkout();'); },
    'anonymous' => fn () => (new class { function run() { checkout(); } })->run(),
    'magic' => function () { echo new Cart(); },
    'empty' => function () { throw new \Exception(); },
    'included' => function () { include 'included.php'; },
];

foreach ($cases as $name => $fails) {
    try {
        $fails();
    } catch (\Throwable $e) {
        file_put_contents("$name.txt", (string) $e);
    }
}
