// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"net/http"
	"slices"
	"strings"
)

// Endpoints of Sentry that this receiver does not have, as metric attributes. Only the tee accepts
// crash reports and uploads, whose formats the receiver does not read.
var (
	onlyTee   = []string{"minidump", "unreal", "playstation", "upload", "events"} // events: attachments of an event
	otherKind = []string{"envelope", "store", "security", "csp-report", "nel", "cron", "integration", "otlp"}
)

const (
	askedManagement = "management" // sentry-cli
	askedOther      = "other"
)

// unknownEndpoint returns the rejection of a request to an endpoint that does not exist. Clients
// choose paths freely, so the metric states the Sentry endpoint to which the path belongs.
func unknownEndpoint(segments []string) *rejection {
	why := &rejection{status: http.StatusNotFound, reason: reasonNotFound, detail: "no such endpoint", asked: askedOther, path: printable(segments)}
	api := slices.Index(segments, "api")
	if api < 0 || len(segments) < api+3 {
		return why
	}
	switch project, name := segments[api+1], segments[api+2]; {
	case project == "0":
		why.asked = askedManagement
		why.cause = "only the sentry_tee extension with management_api accepts it"
	case slices.Contains(onlyTee, name):
		why.asked = name
		why.cause = "only the sentry_tee extension accepts crash reports and uploads, and forwards them to Sentry"
	case slices.Contains(otherKind, name):
		why.asked = name
	}
	return why
}

// maxPrintedPath is enough for the endpoints of Sentry.
const maxPrintedPath = 100

// printable returns a path for the log, without keys. The path for Unreal Engine contains a key.
func printable(segments []string) string {
	shown := slices.Clone(segments[:min(len(segments), 12)])
	for i, segment := range shown {
		if len(segment) == 32 && strings.Trim(segment, "0123456789abcdef") == "" {
			shown[i] = "KEY"
		}
	}
	path := "/" + strings.Join(shown, "/")
	return strings.ToValidUTF8(path[:min(len(path), maxPrintedPath)], "")
}
