// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"regexp"
	"strconv"
	"time"
)

// Times are shifted by whole seconds, in their decimal text: digits after the point are never
// touched, so distances stay exact to the last of them.
var (
	// date is a string that is a time as in RFC 3339, and nothing else.
	date = regexp.MustCompile(`"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)"`)

	// number is a member, or the value of an attribute, that may be unix time in seconds or
	// milliseconds.
	number = regexp.MustCompile(`"([^"\\]*)"\s*:\s*(\d{13}|\d{10})(?:\.\d+)?\s*[,}\]]`)

	// measured is a member that tells when the data of an envelope was taken or sent. Milliseconds
	// are not among them: those of node's measurements run ahead.
	measured = regexp.MustCompile(`"(?:timestamp|start_timestamp|end_timestamp|sent_at)"\s*:\s*(?:(\d{10})(?:\.\d+)?\s*[,}\]]|"([^"]+)")`)
)

// near is how far from the newest time a number may be and still be a time: attributes have plain
// numbers too.
const near = 24 * 60 * 60

// newestSecond is the second of the newest time in a body, 0 if there is none.
func newestSecond(body []byte) (newest int64) {
	for _, match := range measured.FindAllSubmatch(body, -1) {
		second, err := strconv.ParseInt(string(match[1]), 10, 64)
		if err != nil {
			at, err := time.Parse(time.RFC3339, string(match[2]))
			if err != nil {
				continue
			}
			second = at.Unix()
		}
		newest = max(newest, second)
	}
	return newest
}

// shift moves every time in a body by so many seconds.
func shift(body []byte, newest, seconds int64) []byte {
	shifted := bytes.Clone(body)
	const layout = "2006-01-02T15:04:05"
	for _, match := range date.FindAllSubmatchIndex(body, -1) {
		text := shifted[match[2]:match[3]]
		if at, err := time.Parse(layout, string(text)); err == nil {
			copy(text, at.Add(time.Duration(seconds)*time.Second).Format(layout))
		}
	}
	for _, match := range number.FindAllSubmatchIndex(body, -1) {
		if bytes.HasSuffix(body[match[2]:match[3]], []byte("_ns")) {
			continue // time since a start, of a profile
		}
		text := shifted[match[4]:match[5]]
		value, _ := strconv.ParseInt(string(text), 10, 64)
		unit := int64(1)
		if len(text) == 13 {
			unit = 1000
		}
		if distance := value/unit - newest; -near < distance && distance < near {
			copy(text, strconv.FormatInt(value+seconds*unit, 10))
		}
	}
	return shifted
}
