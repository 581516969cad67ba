#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs Sentry's own data scrubber: lines of JSON from stdin to stdout.

In:  an event
Out: the event without scrubbing, and with the default settings of a project; of both, only what Sentry keeps

Needs the package sentry-relay (PyPI).
"""
import json
import sys

from sentry_relay.processing import convert_datascrubbing_config, pii_strip_event

DEFAULTS = convert_datascrubbing_config(
    {"scrubData": True, "scrubDefaults": True, "scrubIpAddresses": True, "sensitiveFields": [], "excludeFields": []})

for line in sys.stdin:
    event = json.loads(line)
    print(json.dumps([pii_strip_event(config, event) for config in ({"applications": {}}, DEFAULTS)]), flush=True)
