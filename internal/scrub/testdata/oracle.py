#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs Sentry's own library over values: lines of JSON from stdin to stdout.

In:  {"config": <PII configuration, or null for the defaults of a new project>, "values": [[key, value], ...]}
Out: [value, ...] after scrubbing; a removed value is null.

Needs the package sentry-relay (PyPI).
"""
import json
import sys

from sentry_relay.processing import convert_datascrubbing_config, pii_strip_event

DEFAULTS = {"scrubData": True, "scrubDefaults": True, "scrubIpAddresses": True, "sensitiveFields": [], "excludeFields": []}

for line in sys.stdin:
    request = json.loads(line)
    settings = request["config"] or DEFAULTS
    config = settings if "applications" in settings else convert_datascrubbing_config({**DEFAULTS, **settings})
    extra = {str(i): {key: value} for i, (key, value) in enumerate(request["values"])}
    event = pii_strip_event(config, {"extra": extra})
    after = event.get("extra", {})
    print(json.dumps([(after.get(str(i)) or {}).get(key) for i, (key, _) in enumerate(request["values"])]), flush=True)
