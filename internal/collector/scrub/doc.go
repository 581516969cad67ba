// SPDX-License-Identifier: Apache-2.0

// Package scrub removes sensitive data as Sentry's servers do by default: passwords, tokens, keys,
// card numbers, IBANs, US social security numbers, passwords in URLs, session cookies and IP
// addresses. It implements the documented rules of Sentry's ingestion service, Relay, over OTLP of
// all signals, and reads the PII configuration of a Sentry project unchanged.
//
// # Flow
//
//	attribute ─▶ place (places.txt) ─▶ advanced rules of the project, by selector
//	                                ─▶ key: the whole value becomes [Filtered]
//	                                ─▶ text: scan finds the triggers in one pass ─▶ only patterns that can match
//
// The rules run in Relay's order, and no rule sees the replacement of another. Messages without a
// trigger cost one pass over their texts. Every pattern is RE2: neither data nor a configured
// pattern can take more than linear time.
//
// # Differences from Relay
//
// TestOracle compares the rules with Sentry's own library. These differences are intended:
//
//   - Texts that are too important to be destroyed keep everything but the match. Relay does so for messages of logs and for generative
//     AI; here URLs, queries of databases, span names, exception messages, and attributes of systems and services are such texts, too
//     (Relay replaces some of them as a whole if they contain a word such as "auth", and leaves others). In them, values beside a
//     sensitive name (password=x) are replaced, which Relay does not do; "author" is not a sensitive name there.
//   - Sources of exceptions lose literals in quotes beside a sensitive name, paths of files only passwords in URLs and queries. Relay
//     leaves both.
//   - Tags, and attributes of known contexts, are scrubbed. Relay leaves them unless a rule names them.
//   - A list of two texts is a pair of a name and a value everywhere; {name, value} objects and flat lists of headers (Node's rawHeaders)
//     are pairs, too. Relay knows pairs in some places only.
//   - The header Cookie is filtered as a whole, and session cookies in a text under a key "cookies". Relay keeps other cookies.
//   - Containers and numbers under a sensitive key become [Filtered]. Relay removes them and leaves a note; OTLP has no place for one.
//   - A value under a sensitive key is always [Filtered]. Relay writes [ip] or the like if the value is nothing else.
//   - A letter outside ASCII ends a word. To Relay it is part of the word: it does not find a card number next to a Chinese character.
//   - Variables of GraphQL requests keep values that no rule matches.
package scrub
