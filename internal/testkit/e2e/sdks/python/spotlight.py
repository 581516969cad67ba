"""Sends an error and a root span with a profile to Spotlight, with Sentry's Python SDK and without a DSN. SENTRY_SPOTLIGHT says where to.

Prints as JSON what was captured.
"""
import json
import time

import sentry_sdk
from sentry_sdk.consts import VERSION

sentry_sdk.init(release="shop@1.0.0")
start = getattr(sentry_sdk, "start_transaction", sentry_sdk.start_span)  # 3 has no transactions
with start(name="checkout") as root:
    spans = [f"{root.trace_id}/{root.span_id}"]
    end = time.perf_counter() + 0.5
    while time.perf_counter() < end:
        pass
error = sentry_sdk.capture_exception(KeyError("coupon"))
sentry_sdk.get_client().close(timeout=20)
print(json.dumps({"version": VERSION, "spans": spans, "errors": [error]}))
