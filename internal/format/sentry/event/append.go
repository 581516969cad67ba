// SPDX-License-Identifier: Apache-2.0

package event

import (
	"strconv"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// Functions that append members of several kinds of items.

// appendComma separates the elements of the list at the end of dst.
func appendComma(dst []byte) []byte {
	if dst[len(dst)-1] == '[' {
		return dst
	}
	return append(dst, ',')
}

func appendInt(dst []byte, key string, number jsonscan.Optional[int64]) []byte {
	if !number.Set {
		return dst
	}
	return strconv.AppendInt(jsonscan.AppendKey(dst, key), number.Value, 10)
}

func appendTime(dst []byte, key string, t jsonscan.Timestamp) []byte {
	if !t.Set {
		return dst
	}
	return jsonscan.AppendSeconds(jsonscan.AppendKey(dst, key), t.UnixNano)
}

func appendTexts(dst []byte, key string, texts []string) []byte {
	if len(texts) == 0 {
		return dst
	}
	dst = append(jsonscan.AppendKey(dst, key), '[')
	for _, text := range texts {
		dst = jsonscan.AppendJSONText(appendComma(dst), text)
	}
	return append(dst, ']')
}
