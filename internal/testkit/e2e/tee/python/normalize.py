"""Normalizes two copies of each event with Sentry's own library (PyPI: sentry-relay), and counts those that differ.

Reads lines of {"Direct": event, "Tee": event}.
"""
import json
import sys

from sentry_relay.processing import StoreNormalizer

normalizer = StoreNormalizer(project_id=42, client_ip="203.0.113.7", user_agent="test", received_at="2026-05-01T10:00:00Z")


def normalized(event):
    """The normalized event without the ids that the library makes up where there is none."""
    result = normalizer.normalize_event(raw_event=json.dumps(event))
    trace = (event.get("contexts") or {}).get("trace") or {}
    if "event_id" not in event:
        result.pop("event_id", None)
    for key in {"trace_id", "span_id"} - trace.keys():
        result.get("contexts", {}).get("trace", {}).pop(key, None)
    return result


counts = {"Normalized": 0, "Different": 0}
for line in sys.stdin:
    pair = json.loads(line)
    counts["Normalized"] += 1
    counts["Different"] += normalized(pair["Direct"]) != normalized(pair["Tee"])
print(json.dumps(counts))
