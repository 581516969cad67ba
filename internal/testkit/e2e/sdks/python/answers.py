"""Sends three errors, one after the other, with Sentry's Python SDK, and prints as JSON what the SDK says it has dropped.

SENTRY_DSN says where to. What a response does to an SDK shows in the next errors.
"""
import json
from collections import Counter

import sentry_sdk
from sentry_sdk.consts import VERSION
from sentry_sdk.transport import HttpTransport

dropped = Counter()


class Reporting(HttpTransport):
    """The SDK's own transport; writes down what it drops."""

    def record_lost_event(self, reason, data_category=None, item=None, **more):
        dropped[f"{data_category or item.data_category} {reason}"] += more.get("quantity", 1)
        super().record_lost_event(reason, data_category, item, **more)


sentry_sdk.init(transport=Reporting, default_integrations=False, auto_session_tracking=False)
for number in range(3):
    sentry_sdk.capture_message(f"message {number}", level="error")
    sentry_sdk.flush(timeout=10)
print(json.dumps({"Version": VERSION, "Dropped": dropped}))
