"""Normalises two copies of each event with Sentry's own library (PyPI: sentry-relay), and counts those that differ.

Reads lines of {"Direct": event, "Tee": event}.
"""
import json
import sys

from sentry_relay.processing import StoreNormalizer

normalizer = StoreNormalizer(project_id=42, client_ip="203.0.113.7", user_agent="test", received_at=1_770_000_000)


def normalized(event):
    return normalizer.normalize_event(raw_event=json.dumps(event))


counts = {"Normalized": 0, "Different": 0}
for line in sys.stdin:
    pair = json.loads(line)
    counts["Normalized"] += 1
    counts["Different"] += normalized(pair["Direct"]) != normalized(pair["Tee"])
print(json.dumps(counts))
