"""The shop with Sentry's Python SDK and its integration for OTLP. SENTRY_DSN says where to.

Spans are OpenTelemetry's. They state the thread and the profiler session, which a profile needs to be linked to them.
"""
import json
import math
import sys
import threading
import time

import sentry_sdk
import sentry_sdk.logger
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from sentry_sdk.consts import VERSION
from sentry_sdk.integrations.otlp import OTLPIntegration
from sentry_sdk.profiler.continuous_profiler import get_profiler_id

said = {"version": sys.argv[1], "spans": [], "errors": [], "logs": [], "busy": []}


class Profiled(SpanProcessor):
    def on_start(self, span, parent_context=None):
        span.set_attribute("thread.id", threading.get_ident())
        if get_profiler_id():
            span.set_attribute("sentry.profiler_id", get_profiler_id())

    def on_end(self, span):
        context = span.get_span_context()
        said["spans"].append(f"{context.trace_id:032x}/{context.span_id:016x}")


def spin(seconds):
    end, x = time.perf_counter() + seconds, 1.0
    while time.perf_counter() < end:
        x = math.sqrt(x + 1.7)


def price_cart(seconds):
    spin(seconds)


def check_stock(seconds):
    spin(seconds)


def run(function, seconds, name):
    with tracer.start_as_current_span(name):
        start = time.perf_counter()
        function(seconds)
        entry = next((known for known in said["busy"] if known["span"] == name), None)
        if entry is None:
            entry = {"function": function.__name__, "span": name, "thread": "main", "seconds": 0}
            said["busy"].append(entry)
        entry["seconds"] += time.perf_counter() - start


provider = TracerProvider(resource=Resource.create({"service.name": "shop"}))
provider.add_span_processor(Profiled())
trace.set_tracer_provider(provider)
options = {"release": "shop@1.0.0", "profile_session_sample_rate": 1.0, "profile_lifecycle": "manual", "integrations": [OTLPIntegration()]}
if VERSION.startswith("2."):
    options["enable_logs"] = True
sentry_sdk.init(**options)
tracer = trace.get_tracer("shop")
sentry_sdk.profiler.start_profiler()
with tracer.start_as_current_span("checkout"):
    for _ in range(8):
        run(price_cart, 0.25, "price")
        run(check_stock, 0.15, "stock")
    try:
        {}["coupon"]
    except KeyError:
        said["errors"].append(sentry_sdk.capture_exception())
    sentry_sdk.logger.warning("stock low")
    said["logs"].append("stock low")
sentry_sdk.profiler.stop_profiler()
time.sleep(0.5)  # the profiler's thread writes the last chunk when it next wakes up
provider.shutdown()
sentry_sdk.get_client().close(timeout=20)
print(f"sentry-sdk {VERSION}", file=sys.stderr)
print(json.dumps(said))
