// SPDX-License-Identifier: Apache-2.0

// Package ingest judges the sentry_envelope exporter by Sentry's own ingest: `make relay-ingest
// RELAY=/path/to/relay`. The program is not part of this project. Relay's processing mode needs
// Redis, Kafka and Sentry's API for projects. The tests start Debian's redis-server and stand-ins
// for the others, and compare what Relay would store.
package ingest
