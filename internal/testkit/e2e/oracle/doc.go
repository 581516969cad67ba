// SPDX-License-Identifier: Apache-2.0

// Package oracle reads Sentry's payloads with encoding/json and compares them with the OTLP that
// the collector made of them. It shares no code with the translation.
package oracle
