// SPDX-License-Identifier: Apache-2.0

// Package spotlight serves the other half of Spotlight's protocol. SDKs send envelopes without
// credentials to POST /stream; Spotlight's page and command line listen to them at GET /stream, an
// event stream. The receiver ingests the envelopes; this package decides which pages may use the
// endpoint, and forwards envelopes to listeners.
//
// https://develop.sentry.dev/sdk/expected-features/spotlight/ describes the SDKs' half. The event
// stream is that of @spotlightjs/spotlight 4.11 (server/routes/stream, server/parser).
package spotlight
