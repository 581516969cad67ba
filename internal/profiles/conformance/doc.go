// SPDX-License-Identifier: Apache-2.0

// Package conformance checks OTLP profiles against the rules of the protocol. [Check] reports each
// violation with its rule, table and index. [Rule.Source] returns the publication that contains a
// rule.
//
//	rule.go     the rules, their publications, and violations
//	check.go    resources, profiles and samples
//	tables.go   the tables of the dictionary
//	orphans.go  entries that no profile reaches
package conformance
