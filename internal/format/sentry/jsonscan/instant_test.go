// SPDX-License-Identifier: Apache-2.0

package jsonscan_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/relaytest"
)

// six is 2026-11-27T06:00:00Z.
const six = 1795759200

// instants are texts and their Unix seconds in Sentry's ingest: sentry-relay 0.10.1 wrote them. 0
// means that it removes the text.
var instants = map[string]float64{
	"2026-11-27T06:00:00Z": six, "2026-11-27T06:00:00": six, "2026-11-27T06:00:00+01:00": six - 3600, "2026-11-27T06:00:00-00:00": six,

	"2026-11-27T06:00:00+0100": six - 3600, "2026-11-27 06:00:00 +0100": six - 3600, "2026-11-27T06:00:00+01 : 00": six - 3600, "2026-11-27T06:00:00+01::00": six - 3600,
	"2026-11-27T06:00:00\t+01:00": six - 3600, "2026-11-27T06:00:00\u221201:00": six + 3600, "2026-11-27T06:00:00+23:59": six - 86340,
	"2026-11-27T06:00:00+01": 0, "2026-11-27T06:00:00+1": 0, "2026-11-27T06:00:00+01:0": 0, "2026-11-27T06:00:00+ 01:00": 0, "2026-11-27T06:00:00+-1:00": 0,
	"2026-11-27T06:00:00+24:00": 0, "2026-11-27T06:00:00+01:60": 0, "2026-11-27T06:00:00+0100Z": 0, "2026-11-27T06:00:00Z+01": 0,

	"2026-11-27t06:00:00z": six, "2026-11-27T06:00:00z": six, "2026-11-27 06:00:00Z": six, "2026-11-27T06:00:00 utc": six, "2026-11-27T06:00:00UTC": six,
	"2026-11-27t06:00:00": 0, "2026-11-27 06:00:00": 0, "2026-11-27_06:00:00Z": 0, "2026-11-27T06:00:00GMT": 0,

	"2026-11-27T06:00:60Z": six + 60, "2026-11-27T06:00:60": six + 60, "2026-11-27T06:00:60.5Z": six + 60.5, "2026-11-27T06:00:61Z": 0,
	"2026-11-27T24:00:00Z": 0, "2026-11-27T06:60:00Z": 0, "2026-02-29T06:00:00Z": 0, "2026-00-27T06:00:00Z": 0, "2026-13-27T06:00:00Z": 0, "2026-11-00T06:00:00Z": 0,

	"2026-11-27T06:00:00.5": six + .5, "2026-11-27T06:00:00.123456789012Z": six + .123457,
	"2026-11-27T06:00:00,5Z": 0, "2026-11-27T06:00:00.Z": 0, "2026-11-27T06:00:00.": 0, "2026-11-27T06:00:00 .5Z": 0,

	" +2026 - 11 - 27T06 : 00 : 00Z ": six, "2026-11-27  06:00:00Z": six, "2026-11-27 T06:00:00": six, "2026-11-27 T06:00:00Z": 0, "2026-11-27T6:0:0": six,
	"+02026-11-27T06:00:00Z": six, "02026-11-27T06:00:00Z": 0, "2026-011-27T06:00:00Z": 0, "2026-11-27T06:00Z": 0, "2026-11-27": 0, "20261127T060000Z": 0, "1795759200": 0,
}

// TestInstants: the scanner reads texts as Sentry's ingest does. Ingest rounds to microseconds.
func TestInstants(t *testing.T) {
	for text, want := range instants {
		require.Equal(t, want, seconds(t, text), text)
	}
}

// TestZonesOnly: V1 profiles need a time zone, as in Sentry's ingest.
func TestZonesOnly(t *testing.T) {
	for text, want := range map[string]bool{`"2026-11-27T06:00:00"`: false, `"2026-11-27T06:00:00Z"`: true, `"2026-11-27t06:00:60+0100"`: true} {
		var got jsonscan.Timestamp
		require.NoError(t, got.UnmarshalJSON([]byte(text)))
		require.Equal(t, want, got.Set, text)
	}
}

func seconds(t *testing.T, text string) float64 {
	token, err := json.Marshal(text)
	require.NoError(t, err)
	l := jsonscan.NewLenient(token)
	got := l.Time("t")
	if text != "" {
		require.Equal(t, got.Bad, len(l.Flaws) > 0)
	}
	return math.Round(float64(got.UnixNano)/1e3) / 1e6
}

// TestNormalizerInstants compares the table and variants of its texts with Sentry's own library.
func TestNormalizerInstants(t *testing.T) {
	relaytest.Python(t)
	var texts []string
	for text := range instants {
		texts = append(texts, text)
	}
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []rune("0123456789 -+:.TtZz\u2212\u00a0\u2003\tUTC")
	for table := len(texts); len(texts) < 5000; {
		text := []rune(texts[random.IntN(table)])
		for range 1 + random.IntN(2) {
			switch at := random.IntN(len(text)); random.IntN(3) {
			case 0:
				text[at] = pieces[random.IntN(len(pieces))]
			case 1:
				text = append(text[:at], text[at+1:]...)
			default:
				text = append(text[:at], append([]rune{pieces[random.IntN(len(pieces))]}, text[at:]...)...)
			}
		}
		texts = append(texts, string(text))
	}
	var events [][]byte
	for _, text := range texts {
		require.True(t, utf8.ValidString(text))
		event, err := json.Marshal(map[string]any{"breadcrumbs": []any{map[string]any{"message": "x", "timestamp": text}}})
		require.NoError(t, err)
		events = append(events, event)
	}
	for i, result := range relaytest.Strip(t, events) {
		var event struct {
			Breadcrumbs struct {
				Values []struct {
					Timestamp float64 `json:"timestamp"`
				} `json:"values"`
			} `json:"breadcrumbs"`
		}
		require.NoError(t, json.Unmarshal(result[0], &event))
		want := 0.
		if values := event.Breadcrumbs.Values; len(values) > 0 && values[0].Timestamp < jsonscan.MaxUnixSeconds {
			want = max(0, values[0].Timestamp)
		}
		require.Equal(t, want, seconds(t, texts[i]), "%q", texts[i])
	}
}
