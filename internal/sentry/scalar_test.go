package sentry

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
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
		nanos, inRange := parseUnixNanos([]byte(text))
		require.Equal(t, want < maxUnixSeconds*nanosPerSecond, inRange, text)
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
	r.Mul(r, big.NewRat(nanosPerSecond, 1))
	r.Add(r, big.NewRat(1, 2))
	whole := new(big.Int).Quo(r.Num(), r.Denom())
	if !whole.IsUint64() {
		return 1<<64 - 1
	}
	return whole.Uint64()
}

// TestFastPathReadsWhatSDKsSend: the forms of recorded payloads do not fall back to the slow reader.
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
