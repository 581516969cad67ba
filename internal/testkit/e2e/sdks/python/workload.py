"""What a small shop does, with Sentry's Python SDK. SENTRY_DSN says where to, the argument how to profile.

Prints as JSON what the SDK handed to its transport and what it says it has dropped, and how long the busy functions took.
"""
import json
import math
import re
import sys
import threading
import time
from collections import Counter

import sentry_sdk
from sentry_sdk.consts import VERSION
from sentry_sdk.transport import HttpTransport

MODE = sys.argv[1]  # v1, manual, trace, stream
RELEASE = tuple(int(part) for part in re.findall(r"\d+", VERSION)[:2])
STREAMED = MODE == "stream" or RELEASE >= (3,)  # 3 has no transactions
ROUNDS = 8

sent = {"spans": [], "profiles": [], "errors": [], "logs": []}
dropped = Counter()
busy = {}


class Reporting(HttpTransport):
    """The SDK's own transport; writes down what it is given."""

    def capture_envelope(self, envelope):
        for item in envelope.items:
            note(item.type, json.loads(item.get_bytes()))
        super().capture_envelope(envelope)

    def record_lost_event(self, reason, data_category=None, item=None, **more):
        dropped[f"{data_category or item.data_category} {reason}"] += more.get("quantity", 1)
        super().record_lost_event(reason, data_category, item, **more)


def note(kind, payload):
    if kind == "transaction":
        for span in [payload["contexts"]["trace"], *payload["spans"]]:
            sent["spans"].append(span["trace_id"] + "/" + span["span_id"])
    elif kind == "span":
        sent["spans"] += [span["trace_id"] + "/" + span["span_id"] for span in payload["items"]]
    elif kind in ("profile", "profile_chunk"):
        sent["profiles"].append(payload["event_id" if kind == "profile" else "chunk_id"])
    elif kind == "event":
        sent["errors"].append(payload["event_id"])
    elif kind == "log":
        sent["logs"] += [log["body"] for log in payload["items"]]


def settings():
    options = {"traces_sample_rate": 1.0, "release": "shop@1.0.0", "transport": Reporting}
    if RELEASE >= (3,):
        pass  # sends logs, and raises for options that it does not know
    elif RELEASE >= (2, 35):
        options["enable_logs"] = True
    elif RELEASE >= (2, 25):
        options["_experiments"] = {"enable_logs": True}
    if MODE == "v1":
        options["profiles_sample_rate"] = 1.0
    else:
        options["profile_session_sample_rate"] = 1.0
        options["profile_lifecycle"] = "manual" if MODE == "manual" else "trace"
    if STREAMED and RELEASE < (3,):
        options["trace_lifecycle"] = "stream"
    return options


def root(name):
    if STREAMED:
        return sentry_sdk.traces.start_span(name=name)
    return sentry_sdk.start_transaction(op="task", name=name)


def span(name):
    if STREAMED:
        return sentry_sdk.traces.start_span(name=name)
    return sentry_sdk.start_span(op="task", **{"name" if RELEASE >= (2,) else "description": name})


def spin(seconds):
    end, x = time.perf_counter() + seconds, 1.0
    while time.perf_counter() < end:
        x = math.sqrt(x + 1.7)


def price_cart(seconds):
    spin(seconds)


def check_stock(seconds):
    spin(seconds)


def render_page(seconds):
    spin(seconds)


def compress_page(seconds):
    spin(seconds)


def run(function, seconds, thread, name):
    with span(name):
        start = time.perf_counter()
        function(seconds)
        entry = busy.setdefault(name, {"function": function.__name__, "span": name, "thread": thread, "seconds": 0})
        entry["seconds"] += time.perf_counter() - start


def checkout():
    with root("checkout"):
        for _ in range(ROUNDS):
            with span("order"):
                run(price_cart, 0.35, "main", "price")
                run(check_stock, 0.15, "main", "stock")


def report():
    with root("report"):
        for _ in range(ROUNDS):
            run(render_page, 0.3, "reports", "render")
            run(compress_page, 0.2, "reports", "compress")


sentry_sdk.init(**settings())
if MODE == "manual":
    sentry_sdk.profiler.start_profiler()
reports = threading.Thread(target=report, name="reports")
reports.start()
time.sleep(0.1)  # the profiler that the first root starts is there for the second
checkout()
reports.join()
try:
    {}["coupon"]
except KeyError:
    sentry_sdk.capture_exception()
if RELEASE >= (2, 25):
    import sentry_sdk.logger
    sentry_sdk.logger.warning("stock low")
if MODE == "manual":
    sentry_sdk.profiler.stop_profiler()
    time.sleep(0.5)  # the profiler's thread writes the last chunk when it next wakes up
elif MODE != "v1":
    time.sleep(0.5)
sentry_sdk.get_client().close(timeout=20) if RELEASE >= (2,) else sentry_sdk.Hub.current.client.close(timeout=20)
print(json.dumps({"version": VERSION, **sent, "dropped": dropped, "busy": list(busy.values())}))
