// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// TestUnixNanosIsExact compares both readers of unix seconds with exact fractions.
func TestUnixNanosIsExact(t *testing.T) {
	for range 20_000 {
		text := strconv.Itoa(1_000_000_000 + rand.IntN(9_000_000_000))
		if decimals := rand.IntN(12); decimals > 0 {
			text += fmt.Sprintf(".%0*d", decimals, rand.Int64N(int64(powersOfTen[min(decimals, 9)])))
		}
		if rand.IntN(10) == 0 {
			text += fmt.Sprintf("e%d", rand.IntN(8)-6)
		}
		want := exactNanos(text)
		nanos, inRange := jsonscan.ParseUnixNanos([]byte(text))
		require.Equal(t, want < jsonscan.MaxUnixSeconds*jsonscan.NanosPerSecond, inRange, text)
		if inRange {
			require.Equal(t, want, nanos, text)
		}
		if plain, end, ok := plainUnixNanos([]byte(text+", "), 0); ok && end == len(text) {
			require.Equal(t, want, plain, text)
		}
	}
}

func exactNanos(text string) uint64 {
	r, _ := new(big.Rat).SetString(text)
	r.Mul(r, big.NewRat(jsonscan.NanosPerSecond, 1))
	r.Add(r, big.NewRat(1, 2))
	whole := new(big.Int).Quo(r.Num(), r.Denom())
	if !whole.IsUint64() {
		return 1<<64 - 1
	}
	return whole.Uint64()
}

// TestFastPathReadsWhatSDKsSend: the forms of recorded payloads do not fall back to the slow
// reader.
func TestFastPathReadsWhatSDKsSend(t *testing.T) {
	for text, want := range map[string]uint64{
		"1795224053.0711603":   1795224053_071160300, // python
		"1795223553":           1795223553_000000000, // javascript, whole seconds
		"1795223553.2810001":   1795223553_281000100, // node
		"1795224831.09052":     1795224831_090520000, // java
		"1795223947.8":         1795223947_800000000, // browser
		"1795223947.123456789": 1795223947_123456789,
	} {
		for _, behind := range []string{"", "}", ",\"stack_id\":1}"} {
			nanos, end, ok := plainUnixNanos([]byte(text+behind), 0)
			require.True(t, ok, text)
			require.Equal(t, len(text), end, text)
			require.Equal(t, want, nanos, text)
		}
	}
}

// TestTimestamps: each form of an instant, and what is none.
func TestTimestamps(t *testing.T) {
	const second = 1795224053
	set, cut, bad := jsonscan.Timestamp{UnixNano: second * 1e9, Set: true}, jsonscan.Timestamp{UnixNano: second * 1e9, Set: true, WholeSeconds: true}, jsonscan.Timestamp{Bad: true}
	for text, want := range map[string]jsonscan.Timestamp{
		`null`: {}, `""`: {}, `1795224053`: set, `1795224053.0`: set, `"2026-11-21T01:20:53.0Z"`: set, `"2026-11-21T01:20:53Z"`: cut, `"2026-11-21 01:20:53Z"`: cut,
		`"2026-11-21T03:20:53+02:00"`: cut, `"1970-01-01T00:00:00.5Z"`: {UnixNano: 5e8, Set: true}, `0`: {Set: true}, `-0`: {Set: true},
		`"2242-03-16T12:56:31.0Z"`: {UnixNano: (jsonscan.MaxUnixSeconds - 1) * jsonscan.NanosPerSecond, Set: true}, `8589934591`: {UnixNano: (jsonscan.MaxUnixSeconds - 1) * jsonscan.NanosPerSecond, Set: true},
		`"2242-03-16T12:56:32.0Z"`: bad, `8589934592`: bad, `-1`: bad, `"1969-12-31T23:59:59Z"`: bad, `"2026-11-21"`: bad, `" "`: bad, `"soon"`: bad, `true`: bad, `[]`: bad, `{}`: bad,
		`1e400000000000`: bad, `1e-400000000000`: {Set: true}, `1795224053.0000000005`: {UnixNano: second*1e9 + 1, Set: true}, `1795224053.0000000004`: set,
	} {
		var got jsonscan.Timestamp
		require.NoError(t, got.UnmarshalJSON([]byte(text)))
		require.Equal(t, want, got, text)
	}
}

// TestAddresses: in hex, in decimal, as text and as a number.
func TestAddresses(t *testing.T) {
	for text, want := range map[string]jsonscan.Address{
		`null`: {}, `""`: {}, `"0x1a2B"`: {Value: 0x1a2b, Set: true}, `"0X10"`: {Value: 16, Set: true}, `"6699"`: {Value: 6699, Set: true}, `6699`: {Value: 6699, Set: true}, `0`: {Set: true},
		`"0x0"`: {Set: true}, `"0xffffffffffffffff"`: {Value: 1<<64 - 1, Set: true}, `18446744073709551615`: {Value: 1<<64 - 1, Set: true},
		`"0x"`: {Bad: true}, `"0x10000000000000000"`: {Bad: true}, `"0xg"`: {Bad: true}, `18446744073709551616`: {Bad: true}, `-1`: {Bad: true}, `"x"`: {Bad: true}, `true`: {Bad: true}, `[1]`: {Bad: true},
	} {
		s := jsonscan.Scanner{Data: []byte(text)}
		require.Equal(t, want, s.Address(), text)
		require.Nil(t, s.Err, text)
	}
}

// TestPlainNumbers: the fast path reads whole numbers as the general one does, or leaves them to
// it.
func TestPlainNumbers(t *testing.T) {
	for text, want := range map[string]uint64{
		"0": 0, "7": 7, "10": 10, "987654321": 987654321, "1234567890": 1234567890,
		"999999999999999999": 999999999999999999,
	} {
		nanos, end, ok := plainNanos([]byte(text+`,"`), 0)
		require.True(t, ok, text)
		require.Equal(t, want, nanos, text)
		require.Equal(t, len(text), end, text)
		nanos, _, ok = plainNanos([]byte(text), 0)
		require.True(t, ok, "%s at the end", text)
		require.Equal(t, want, nanos, text)
		index, end, ok := plainIndex([]byte("["+text+"]"), 1)
		require.Equal(t, len(text) <= 9, ok, text)
		if ok {
			require.Equal(t, int32(want), index, text)
			require.Equal(t, 1+len(text), end, text)
		}
	}
	for _, text := range []string{"", "-1", "01", "00", "x", "1000000000000000000", "99999999999999999999"} {
		_, _, ok := plainNanos([]byte(text+","), 0)
		require.False(t, ok, text)
		_, _, ok = plainIndex([]byte(text+","), 0)
		require.False(t, ok, text)
	}
}

// TestFastSamplesOfV1: samples of one layout and times of all lengths, as numbers and as text.
func TestFastSamplesOfV1(t *testing.T) {
	for _, quote := range []string{"", `"`} {
		var samples []string
		var want []uint64
		for at, i := uint64(0), 0; i < 18; at, i = at*10+uint64(i%10), i+1 {
			samples = append(samples, fmt.Sprintf(`{"elapsed_since_start_ns":%s%d%s,"thread_id":"1","stack_id":0}`, quote, at, quote))
			want = append(want, at)
		}
		p, err := new(Decoder).Profile([]byte(`{"version":"1","profile":{"samples":[` + strings.Join(samples, ",") + `],"stacks":[[]],"frames":[]}}`))
		require.NoError(t, err)
		require.Equal(t, want, p.Samples.Time)
	}
}
