"""Sends errors with Sentry's Python SDK: three kinds, two of each. SENTRY_DSN says where to."""
import sentry_sdk

sentry_sdk.init(default_integrations=False, release="shop@1.0.0", auto_session_tracking=False)


def pay(amount):
    if amount < 0:
        raise ValueError("amount is negative")
    if amount == 0:
        raise KeyError("amount")
    return 1 / (amount - 1)


for amount in (-1, 0, 1, -1, 0, 1):
    try:
        pay(amount)
    except Exception:
        sentry_sdk.capture_exception()
sentry_sdk.flush(timeout=20)
