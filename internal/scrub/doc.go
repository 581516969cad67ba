// SPDX-License-Identifier: Apache-2.0

// Package scrub removes sensitive data as Sentry's servers do by default: passwords, tokens, keys,
// card numbers, IBANs, US social security numbers, passwords in URLs, session cookies and IP
// addresses. It implements the documented rules of Sentry's ingestion service, Relay, for OTLP data
// of all signals, and reads the PII configuration of a Sentry project unchanged.
//
// # Flow
//
//	attribute ─▶ place (places.txt, names.txt) ─▶ advanced rules of the project, by selector
//	                                ─▶ key: the whole value becomes [Filtered]
//	                                ─▶ text: scan finds the triggers in one pass ─▶ only patterns that can match
//
// The rules run in Relay's order, and no rule processes the replacement of another. Messages
// without a trigger need one pass over their texts. All work is linear in the input: patterns are
// RE2, a configured one has a limit (see maxMatches), and searches by hand never read a part of a
// text twice. TestGrowth counts it.
//
// # Differences from Relay
//
// TestOracle compares the rules with Sentry's own library. TestOnlyOneRemoves of the package
// relaytest looks for secrets that only one of the two removes, and fails for all that are not of a
// class in docs/scrubbing.md. These differences are intended:
//
//   - In important texts, only the match is replaced. Relay does this for log messages and
//     generative AI. Here, it also applies to URLs, statements of SQL, span names, exception
//     messages, and attributes of systems and services; Relay replaces URLs and queries as a whole
//     if they contain a word such as "auth", and keeps the others. The value next to a sensitive
//     name (password=x) is replaced as well, which Relay does not do, and so are all literals of a
//     statement with a sensitive word. Names are not values: neither code names (see isCode), nor
//     names of tables and columns (see statement). "author" is not a sensitive name.
//   - Source lines of exceptions lose card numbers, and quoted literals next to a sensitive name.
//     Names of code (functions, modules, packages, files) lose only passwords and parameters of
//     URLs. Relay keeps both.
//   - In url.full, Relay replaces the IP addresses of spans, and keeps the host addresses of
//     requests. OTLP has one attribute for both, so this package replaces them in both.
//   - Tags, and attributes of known contexts, are scrubbed. Relay keeps them unless a rule names
//     them.
//   - A list of two texts is always a pair of name and value. {name, value} objects and flat lists
//     of headers (Node's rawHeaders) are pairs, too. Relay recognizes pairs in some places only.
//   - The Cookie header is filtered as a whole, and so are the cookies of a request in text form.
//     Session cookies are filtered under every key that ends with "cookies". Relay keeps other
//     cookies.
//   - The last part of a dotted key counts as a key: user.otp is sensitive. In Relay, only the key
//     otp is.
//   - After a replacement that contains another one, Relay mixes up the marks of later
//     replacements.
//   - Containers and numbers under a sensitive key become [Filtered]. Relay removes them and adds a
//     note, which OTLP cannot represent.
//   - A value under a sensitive key always becomes [Filtered]. Relay writes, for example, [ip] if
//     the whole value is an IP address.
//   - A letter outside ASCII ends a word. In Relay it is part of the word, so Relay does not find a
//     card number next to a Chinese character.
//   - Digits after a decimal point are not a card number: Sentry's own baggage header has such
//     fractions.
//   - Variables of GraphQL requests keep values that no rule matches.
package scrub
