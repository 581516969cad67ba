#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs Sentry's own event processing: lines of JSON from stdin to stdout.

In:  an event
Out: the errors that Sentry would show with the event, and its _meta: fields that were invalid, truncated or removed

Needs the package sentry-relay (PyPI).
"""
import json
import sys

from sentry_relay.processing import StoreNormalizer

for line in sys.stdin:
    event = StoreNormalizer().normalize_event(raw_event=line)
    print(json.dumps({"errors": event.get("errors"), "meta": event.get("_meta")}), flush=True)
