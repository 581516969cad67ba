// SPDX-License-Identifier: Apache-2.0

package event

import "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"

// levels are the levels of events and breadcrumbs that Sentry's ingest reads, and the words that it
// stores for them. It compares words exactly: it removes "warn", "Warning" and all others, so that
// an event has its default, error (transactions: info), and a breadcrumb has info
// (relay-event-schema/src/protocol/types.rs, Level; relay-event-normalization/src/event.rs).
var levels = map[string]string{
	"debug": "debug", "info": "info", "warning": "warning", "error": "error", "fatal": "fatal",
	"log":      "info",  // console.log in JavaScript
	"critical": "fatal", // Python's logging, Monolog
	// Python's logging, sent by raven. Ingest reads only these five numbers, and only as integers:
	// neither 25 nor 40.0.
	"10": "debug", "20": "info", "30": "warning", "40": "error", "50": "fatal",
}

// LevelOf returns the word that Sentry's ingest stores for a level, or "" if ingest removes it. The
// text is a word, or a number as written. A number in quotes is read as the number, although ingest
// removes it: the meaning is clear.
func LevelOf(text string) string { return levels[text] }

// level reads a level. Words are kept as sent, numbers of Python's logging become words.
func level(s Source, field string) string {
	text := s.ID(field)
	if word := LevelOf(text); word != "" && jsonscan.IsDigit(text[0]) {
		return word
	}
	return text
}
