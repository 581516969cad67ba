// SPDX-License-Identifier: Apache-2.0

package sentry_test

import (
	"errors"
	"fmt"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// ReadEnvelope splits the body of a request into items. An item with a length may contain newlines;
// an item without a length ends at the first one.
func ExampleReadEnvelope() {
	body := []byte(`{"event_id":"9ec79c33ec9942ab8353589fcb2e04dc","sent_at":"2026-05-01T10:00:01Z"}
{"type":"log","length":13}
{"items":
[]}
{"type":"session"}
{"init":true}
`)
	envelope, err := sentry.ReadEnvelope(body)
	fmt.Println(envelope.Header.EventID, err)
	for _, item := range envelope.Items {
		fmt.Printf("%s: %q\n", item.Header.Type, item.Payload)
	}
	// Output:
	// 9ec79c33ec9942ab8353589fcb2e04dc <nil>
	// log: "{\"items\":\n[]}"
	// session: "{\"init\":true}"
}

// After an error, the envelope holds the items before it.
func ExampleReadEnvelope_truncated() {
	envelope, err := sentry.ReadEnvelope([]byte("{}\n{\"type\":\"session\"}\n{}\n{\"type\":\"log\",\"length\":100}\n{}"))
	fmt.Println("items:", len(envelope.Items))
	if broken := (*sentry.EnvelopeError)(nil); errors.As(err, &broken) {
		fmt.Println("reason:", broken.Reason)
	}
	fmt.Println(err)
	// Output:
	// items: 1
	// reason: envelope_truncated
	// envelope_truncated: item 2 at byte 25: length is 100, but 2 bytes are left
}
