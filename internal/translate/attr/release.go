// SPDX-License-Identifier: Apache-2.0

package attr

import "strings"

// Sentry rejects other values of these fields, and shows an error with each event.
//
// https://docs.sentry.io/product/releases/naming-releases/ and
// relay-event-schema/src/protocol/event.rs

// ValidRelease returns a release that Sentry accepts: branches and paths in versions are common. ""
// = no release.
func ValidRelease(text string) string {
	text = Clip(validName(text), maxRelease)
	if text == "latest" {
		return ""
	}
	return text
}

// ValidEnvironment returns an environment that Sentry accepts, "" = none.
func ValidEnvironment(text string) string {
	text = Clip(validName(text), maxEnvironment)
	if strings.EqualFold(text, "none") {
		return ""
	}
	return text
}

// Sentry's limits, in characters; these are in bytes.
const maxRelease, maxEnvironment = 200, 64

func validName(text string) string {
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		switch r {
		case '/', '\\', '\n', '\r', '\t', '\f':
			return '-'
		}
		return r
	}, text))
	if text == "." || text == ".." {
		return ""
	}
	return text
}

// ValidDist returns a distribution that Sentry accepts, "" = none.
func ValidDist(text string) string {
	if len(text) > 64 || strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != "" {
		return ""
	}
	return text
}
