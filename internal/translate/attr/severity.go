// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/plog"
)

// severities maps the levels of Sentry's logs, those of its events ("warning"), and "log", which
// JavaScript's console uses.
var severities = map[string]struct {
	number plog.SeverityNumber
	text   string
}{
	"trace":    {plog.SeverityNumberTrace, "trace"},
	"debug":    {plog.SeverityNumberDebug, "debug"},
	"info":     {plog.SeverityNumberInfo, "info"},
	"log":      {plog.SeverityNumberInfo, "info"},
	"warn":     {plog.SeverityNumberWarn, "warn"},
	"warning":  {plog.SeverityNumberWarn, "warn"},
	"error":    {plog.SeverityNumberError, "error"},
	"fatal":    {plog.SeverityNumberFatal, "fatal"},
	"critical": {plog.SeverityNumberFatal, "fatal"},
}

// Severity returns the number of a level and the text that all levels of this number have. Unknown
// levels have no number and keep their text.
func Severity(level string) (plog.SeverityNumber, string) {
	known, ok := severities[strings.ToLower(level)]
	if !ok {
		return plog.SeverityNumberUnspecified, level
	}
	return known.number, known.text
}
