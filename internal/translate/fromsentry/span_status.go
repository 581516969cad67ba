// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// statusAliases maps old names to current names, as ingest does (relay-base-schema/src/spans.rs).
var statusAliases = map[string]string{"success": "ok", "failure": "internal_error", "unknown_error": "internal_error"}

// statusName returns the name of a status that is the number of a gRPC code, or the text itself.
func statusName(sent string) string {
	if sent != "" && sent[0] <= '9' { // a failing Atoi would be slower than the rest of setStatus
		if code, err := strconv.Atoi(sent); err == nil && code >= 0 && code < len(attr.StatusNames) {
			return attr.StatusNames[code]
		}
	}
	return sent
}

// setStatus sets the status: ok becomes Ok, and a missing status Unset. All others become Error,
// with the span's own message or Sentry's name of the status. Streamed spans have only "error",
// without a message.
func setStatus(status ptrace.Status, sent, message string) {
	name := statusName(strings.ToLower(sent))
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
