# SPDX-License-Identifier: Apache-2.0
"""Fails in several ways under one of two SDKs: failures.py otel|sentry spans|logs|dup

The functions that fail are the same, so both SDKs see the same stacks. Each failure has a message of its own.
"""
import asyncio
import json
import logging
import os
import sys

SDK, MODE = sys.argv[1:]
current = ""


class PaymentError(Exception):
    pass


class OrderError(Exception):
    pass


def pay():
    raise PaymentError(f"card declined: {current}")


def chained():
    try:
        pay()
    except PaymentError as e:
        raise OrderError("order 17") from e


def context():
    try:
        pay()
    except PaymentError:
        {}["sku"]


def nested():
    with scope("inner"):
        with scope("innermost"):
            pay()


async def fetch():
    await asyncio.sleep(0)
    raise TimeoutError("no answer")


async def gather():
    await asyncio.gather(fetch())


def asynchronous():
    asyncio.run(gather())


def reraised():
    try:
        pay()
    except PaymentError:
        raise


def library():
    json.loads("{")


def recursive(n=20):
    return recursive(n - 1) if n else pay()


class NoScope:
    def __init__(self, name):
        pass

    def __enter__(self):
        pass

    def __exit__(self, *_):
        pass


if SDK == "sentry":
    import sentry_sdk

    sentry_sdk.init(os.environ["SENTRY_DSN"], include_local_variables=False)
    scope, flush = NoScope, sentry_sdk.flush
else:
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
    from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    resource = Resource.create({"service.name": "shop"})
    traces, logs = TracerProvider(resource=resource), LoggerProvider(resource=resource)
    traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(os.environ["OTLP"] + "/v1/traces")))
    logs.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter(os.environ["OTLP"] + "/v1/logs")))
    if MODE != "spans":
        logging.getLogger().addHandler(LoggingHandler(logger_provider=logs))
    tracer = traces.get_tracer("failures")

    def scope(name):
        return tracer.start_as_current_span(name, record_exception=MODE != "logs")

    def flush():
        traces.shutdown()
        logs.shutdown()


def observe(case):
    with scope("request"):
        try:
            with scope(case.__name__):
                case()
        except Exception as e:
            if SDK == "sentry" and MODE == "spans":
                sentry_sdk.capture_exception(e)
            if MODE != "spans":
                logging.getLogger("shop").exception("failed")


cases = (pay, chained, context, nested, asynchronous, reraised, library, recursive)
for case in cases:
    current = case.__name__
    observe(case)
flush()
print(len(cases))
