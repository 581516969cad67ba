// SPDX-License-Identifier: Apache-2.0

package envelopescrub

import (
	"bytes"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/scrub"
)

// Report lists the changed values and the data that could not be examined.
type Report struct {
	Values map[string]int // changed values by rule
	Kept   int            // size of binary traces, which contain names of classes, methods and threads
}

// RulePersonal is the rule for members that describe a person, a machine or source code.
const RulePersonal = "personal"

// settings are the defaults of a Sentry project, and further rules for texts.
var settings = func() scrub.Config {
	c := scrub.DefaultConfig()
	c.SQLLiterals = true
	c.PIIConfig = `{"applications": {"$string": ["@email:replace"]}}`
	return c
}()

// Scrub returns an envelope, or an event in the older format without one, without personal data. It
// does not change data.
func Scrub(data []byte) ([]byte, Report, error) {
	rules, err := scrub.New(settings)
	if err != nil {
		return nil, Report{}, err
	}
	e := editor{rules: rules, report: Report{Values: map[string]int{}}}
	clean := bytes.Clone(data)
	envelope, err := sentry.ReadEnvelope(clean)
	if err != nil && len(envelope.Items) == 0 {
		if _, storeErr := sentry.ReadStore(data); storeErr == nil && bytes.HasPrefix(data, []byte("{")) {
			e.json(clean, event)
			return clean, e.report, nil
		}
	}
	rest := e.header(clean)
	for _, item := range envelope.Items {
		if rest = e.header(rest); !starts(rest, item.Payload) {
			break // ReadEnvelope and header disagree, so the form of the rest is unknown
		}
		e.payload(&item)
		rest = bytes.TrimLeft(rest[len(item.Payload):], "\r\n")
	}
	e.unreadable(rest)
	return clean, e.report, nil
}

// editor scrubs one envelope in place.
type editor struct {
	rules  *scrub.Scrubber
	report Report
}

func (e *editor) count(counts scrub.Counts) {
	for rule, n := range counts {
		e.report.Values[rule] += n
	}
}

// header scrubs the header at the start of data, and returns the data after its line.
func (e *editor) header(data []byte) (rest []byte) {
	line, rest, _ := bytes.Cut(data, []byte("\n"))
	e.json(line, header)
	return rest
}

// starts reports whether data starts with a view of the same memory.
func starts(data, view []byte) bool {
	return len(view) <= len(data) && (len(view) == 0 || &data[0] == &view[0])
}

// contents are items without JSON, whose whole content is data of the application.
var contents = map[sentry.ItemType]bool{
	sentry.ItemAttachment: true, sentry.ItemReplayRecording: true, sentry.ItemReplayVideo: true,
	sentry.ItemUnrealReport: true, sentry.ItemFormData: true,
}

// payload scrubs an item. Perfetto traces follow JSON, and are not examined.
func (e *editor) payload(item *sentry.Item) {
	text, binary := item.Payload, []byte(nil)
	if meta := item.Header.MetaLength; meta.Set && 0 < meta.Value && meta.Value < len(text) {
		text, binary = text[:meta.Value], text[meta.Value:]
	}
	if contents[item.Header.Type] {
		fill(item.Payload)
		e.report.Values[RulePersonal]++
		return
	}
	e.json(text, event)
	e.report.Kept += len(binary)
}

// unreadable scrubs the lines after the point where reading the envelope fails.
func (e *editor) unreadable(rest []byte) {
	for len(rest) > 0 {
		line, next, _ := bytes.Cut(rest, []byte("\n"))
		e.json(line, event)
		rest = next
	}
}
