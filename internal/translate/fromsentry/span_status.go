// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// statusAliases are old names, and the two spellings of code 2.
var statusAliases = map[string]string{"success": "ok", "failure": "internal_error", "unknown_error": "unknown"}

// setStatus sets the status: ok is Ok, absent is Unset, all others are Error with Sentry's name as
// the message, unless the span has a message of its own. Streamed spans have only "error", without
// a message.
func setStatus(status ptrace.Status, sent, message string) {
	name := strings.ToLower(sent)
	if name != "" && name[0] <= '9' { // a failing Atoi is slower than everything else here
		if code, err := strconv.Atoi(name); err == nil && code >= 0 && code < len(attr.StatusNames) {
			name = attr.StatusNames[code]
		}
	}
	if alias, old := statusAliases[name]; old {
		name = alias
	}
	switch name {
	case "", "unset":
		return
	case "ok":
		status.SetCode(ptrace.StatusCodeOk)
		return
	case "error":
		name = ""
	}
	status.SetCode(ptrace.StatusCodeError)
	status.SetMessage(attr.FirstText(message, name))
}
