"""Writes the trace of a failure as OpenTelemetry's SDK does, and what the language itself says of its frames."""
import json
import sys
import traceback


class CheckoutError(Exception):
    pass


def reserve(sku):
    stock = {}
    return stock[sku]


def checkout(order):
    try:
        reserve("SKU000017")
    except KeyError as e:
        raise CheckoutError(f"order {order} failed") from e


def chained():
    checkout("A-17")


def context():
    try:
        checkout("B-2")
    except CheckoutError:
        int("no number")


def recursive(n):
    return recursive(n - 1) if n else 1 / 0


def recursion():
    recursive(40)


def multiline():
    raise ValueError("two\nlines: and\n  File \"x.py\", line 1, in y\n")


def group():
    failures = []
    for fails in (lambda: reserve("A"), context):
        try:
            fails()
        except Exception as e:
            failures.append(e)
    raise ExceptionGroup("two orders", failures + [ExceptionGroup("inner", [TypeError("of a\nmember")])])


def syntax():
    compile("x = = 1", "order.py", "exec")


def generated():
    code = compile("def f():\n    raise RuntimeError\nf()", "<string>", "exec")
    exec(code)


def library():
    json.loads("{")


def nested():
    class Cart:
        @property
        def total(self):
            return [price * 2 for price in (1, None)]
    return Cart().total


def noted():
    try:
        reserve("Ä-1")
    except KeyError as e:
        e.add_note("a note\nof two lines")
        raise


def trace(name, fails):
    try:
        fails()
    except BaseException as e:
        with open(name + ".txt", "w") as f:
            f.write("".join(traceback.format_exception(type(e), e, e.__traceback__)))
        with open(name + ".frames", "w") as f:
            write_frames(f, e)


def write_frames(f, e):
    """One line for each exception, the thrown one first, and one for each frame, the outermost first."""
    seen = []
    while e is not None and e not in seen:
        seen.append(e)
        f.write(f"{type(e).__qualname__}\n")
        for frame in traceback.extract_tb(e.__traceback__):
            f.write(f"  {frame.name} {frame.filename}:{frame.lineno}\n")
        if isinstance(e, BaseExceptionGroup):
            for member in e.exceptions:
                write_frames(f, member)
        e = e.__cause__ or (None if e.__suppress_context__ else e.__context__)


if __name__ == "__main__":
    trace(sys.argv[1], globals()[sys.argv[1]])
