// SPDX-License-Identifier: Apache-2.0

// Package conformance checks OTLP profiles against the rules of the protocol. [Check] reports each
// violation with its rule, table and index. [Rule.Source] returns the publication that contains a
// rule. The promise in package dictionary lists the stable parts.
//
// Command envelope checks files: install it with
//
//	go install github.com/otelcol-sentry/otelcol-sentry/cmd/envelope@latest
//	envelope check profiles.json
//
// The page sentences.md lists the normative sentences of the specification, each with its rule and
// its test.
//
//	rule.go        the rules, their publications, and violations
//	check.go       resources, profiles and samples
//	tables.go      the tables of the dictionary
//	references.go  string references inside values of attributes
//	ucum.go        units
//	orphans.go     entries that no profile reaches
package conformance
