// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestExceptionData: code, number and details stand in one of two places; each comes from the first
// that has it.
func TestExceptionData(t *testing.T) {
	number := func(n int64) Int { return Int{Value: n, Set: true} }
	meta := func(text string) json.RawMessage { return json.RawMessage(text) }
	old := &ExceptionError{number(7), "old", meta(`{"o":1}`)}
	for name, c := range map[string]struct {
		exception Exception
		want      ExceptionError
	}{
		"none":          {Exception{}, ExceptionError{}},
		"new":           {Exception{NumCode: number(1), Code: "new", Meta: meta(`{"n":1}`)}, ExceptionError{number(1), "new", meta(`{"n":1}`)}},
		"old":           {Exception{Error: old}, *old},
		"both":          {Exception{NumCode: number(0), Code: "new", Meta: meta(`{}`), Error: old}, ExceptionError{number(0), "new", meta(`{}`)}},
		"nulls":         {Exception{Meta: meta(`null`), Error: &ExceptionError{Meta: meta(`null`)}}, ExceptionError{}},
		"old for nulls": {Exception{Meta: meta(`null`), Error: old}, *old},
	} {
		assert.Equal(t, c.want, c.exception.Data(), name)
	}
}

func TestEffectiveFrameworkAndSeverity(t *testing.T) {
	yes, no := true, false
	for want, x := range map[string]Exception{
		FrameworkDart:  {Framework: FrameworkDart, Exceptions: []ExceptionUnit{{Signal: "SIGABRT"}}},
		FrameworkApple: {Exceptions: []ExceptionUnit{{}, {Signal: "SIGABRT"}}},
		FrameworkJVM:   {Exceptions: []ExceptionUnit{{}}, Code: "c"},
	} {
		assert.Equal(t, want, x.EffectiveFramework())
	}
	for _, x := range []Exception{{Code: "c"}, {NumCode: Int{Set: true}}, {Error: &ExceptionError{}}} {
		assert.Equal(t, FrameworkApple, x.EffectiveFramework())
	}
	assert.Equal(t, FrameworkJVM, (&Exception{}).EffectiveFramework())
	for want, all := range map[string][]Exception{
		SeverityHandled:   {{Handled: &yes}, {Severity: SeverityHandled, Handled: &no}},
		SeverityFatal:     {{}, {Handled: &no}, {Severity: SeverityFatal, Handled: &yes}},
		SeverityUnhandled: {{Severity: SeverityUnhandled}},
	} {
		for _, x := range all {
			assert.Equal(t, want, x.EffectiveSeverity())
		}
	}
}
