// SPDX-License-Identifier: Apache-2.0

package sentry

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

func TestAppendEnvelope(t *testing.T) {
	e := &Envelope{
		Header: EnvelopeHeader{
			EventID: "9ec79c33ec9942ab8353589fcb2e04dc",
			SDK:     SDK{Name: "sentry.python"},
			SentAt:  time.Date(2026, 5, 1, 10, 0, 1, 500, time.UTC),
			Trace:   &DynamicSamplingContext{TraceID: "abc", Transaction: "GET /\n\"x\""},
		},
		Items: []Item{
			{Header: ItemHeader{Type: ItemProfileChunk, Platform: "python"}, Payload: []byte("{\n}")},
			{Header: ItemHeader{Type: ItemLog, ItemCount: jsonscan.Some(0)}},
		},
	}
	got, err := AppendEnvelope([]byte("before"), e)
	require.NoError(t, err)
	assert.Equal(t, "before"+
		`{"event_id":"9ec79c33ec9942ab8353589fcb2e04dc","sdk":{"name":"sentry.python"},"sent_at":"2026-05-01T10:00:01.0000005Z",`+
		`"trace":{"trace_id":"abc","transaction":"GET /\u000a\"x\""}}`+"\n"+
		`{"type":"profile_chunk","length":3,"platform":"python"}`+"\n{\n}\n"+
		`{"type":"log","length":0,"item_count":0}`+"\n\n", string(got))

	got, err = AppendEnvelope(nil, &Envelope{})
	require.NoError(t, err)
	assert.Equal(t, "{}\n", string(got))
}

// A field that one side forgets comes back empty: every field is filled, by reflection, with a
// value of its own.
func TestAppendEnvelopeForgetsNoField(t *testing.T) {
	var e Envelope
	e.Header.Trace = &DynamicSamplingContext{}
	e.Items = make([]Item, 2)
	fill(t, reflect.ValueOf(&e).Elem(), "field")
	e.Header.EventID = "9ec79c33ec9942ab8353589fcb2e04dc"

	body, err := AppendEnvelope(nil, &e)
	require.NoError(t, err)
	again, err := ReadEnvelope(body)
	require.NoError(t, err)
	assert.Equal(t, &e, again)
}

func fill(t *testing.T, v reflect.Value, path string) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.Date(2026, 5, 1, 10, 0, 1, 123456789, time.UTC)))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), path+"."+v.Type().Field(i).Name)
		}
	case reflect.Pointer:
		fill(t, v.Elem(), path)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(path + "\n\x00"))
			return
		}
		for i := range v.Len() {
			fill(t, v.Index(i), path)
		}
	case reflect.String:
		v.SetString(path + " \"\\\x00\x7f\u2028ü")
	case reflect.Int:
		v.SetInt(int64(len(path)))
	case reflect.Bool:
		v.SetBool(true)
	default:
		t.Fatalf("%s: no filling for a %s", path, v.Kind())
	}
}

func TestAppendEnvelopeRefusesWhatWouldReadDifferently(t *testing.T) {
	long := strings.Repeat("x", MaxHeaderBytes)
	tests := []struct {
		name     string
		envelope Envelope
		reason   discard.Reason
		item     int
	}{
		{"event id with dashes", Envelope{Header: EnvelopeHeader{EventID: "9ec79c33-ec99-42ab-8353-589fcb2e04dc"}}, ReasonEnvelopeInvalidHeader, 0},
		{"event id in upper case", Envelope{Header: EnvelopeHeader{EventID: "9EC79C33EC9942AB8353589FCB2E04DC"}}, ReasonEnvelopeInvalidHeader, 0},
		{"year", Envelope{Header: EnvelopeHeader{SentAt: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}}, ReasonEnvelopeInvalidHeader, 0},
		{"large header", Envelope{Header: EnvelopeHeader{DSN: long}}, ReasonEnvelopeHeaderTooLarge, 0},
		{"large item header", Envelope{Items: []Item{{}, {Header: ItemHeader{Filename: long}}}}, ReasonEnvelopeHeaderTooLarge, 2},
		{"negative count", Envelope{Items: []Item{{Header: ItemHeader{MetaLength: jsonscan.Some(-1)}}}}, ReasonEnvelopeInvalidItemHeader, 1},
		{"many items", Envelope{Items: make([]Item, MaxEnvelopeItems+1)}, ReasonEnvelopeTooManyItems, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dst, err := AppendEnvelope([]byte("before"), &test.envelope)
			var bad *EnvelopeError
			require.ErrorAs(t, err, &bad)
			assert.Equal(t, test.reason, bad.Reason)
			assert.Equal(t, test.item, bad.Item)
			assert.Equal(t, "before", string(dst))
		})
	}
}

func TestAppendEnvelopeMendsText(t *testing.T) {
	body, err := AppendEnvelope(nil, &Envelope{Items: []Item{{Header: ItemHeader{Filename: "a\xff\xfeb"}, Payload: []byte("\xff")}}})
	require.NoError(t, err)
	e, err := ReadEnvelope(body)
	require.NoError(t, err)
	assert.Equal(t, "a\ufffd\ufffdb", e.Items[0].Header.Filename)
	assert.Equal(t, "\xff", string(e.Items[0].Payload))
}
