#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs Sentry's own data scrubber: lines of JSON from stdin to stdout.

In:  an event
Out: the event after Sentry's normalization, which decodes form bodies and query strings, without scrubbing and with the default settings of
     a project; null if Sentry rejects the event

Needs the package sentry-relay (PyPI).
"""
import json
import sys

from sentry_relay.exceptions import RelayError
from sentry_relay.processing import StoreNormalizer, convert_datascrubbing_config, pii_strip_event

DEFAULTS = convert_datascrubbing_config(
    {"scrubData": True, "scrubDefaults": True, "scrubIpAddresses": True, "sensitiveFields": [], "excludeFields": []})

for line in sys.stdin:
    try:
        event = StoreNormalizer().normalize_event(raw_event=line)
    except RelayError:  # Sentry rejects the event
        print("[null, null]", flush=True)
        continue
    print(json.dumps([pii_strip_event(config, event) for config in ({"applications": {}}, DEFAULTS)]), flush=True)
