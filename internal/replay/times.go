// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"bytes"
	"regexp"
	"strconv"
	"time"
)

// Times are shifted by whole seconds, in their decimal text: fractions do not change, so that
// distances remain exact.
var (
	// date matches a string that consists of a time in RFC 3339.
	date = regexp.MustCompile(`"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)"`)

	// number matches a member, or the value of an attribute, that may be unix time in seconds or
	// milliseconds.
	number = regexp.MustCompile(`"([^"\\]*)"\s*:\s*(\d{13}|\d{10})(?:\.\d+)?\s*[,}\]]`)

	// measured matches a member with the time when the data of an envelope was measured or sent;
	// sessions may have only the time of their start. It excludes milliseconds: those of node's
	// measurements are in the future.
	measured = regexp.MustCompile(`"(?:timestamp|start_timestamp|end_timestamp|sent_at|started)"\s*:\s*(?:(\d{10})(?:\.\d+)?\s*[,}\]]|"([^"]+)")`)

	// nanos matches a text that may be unix time in nanoseconds, and the name of its member, if it
	// is an OTLP time.
	nanos = regexp.MustCompile(`("(?:\w*[tT]imeUnixNano)":)?"(\d{19})"`)
)

// near is the maximum distance in seconds between the newest time and a number that is regarded as
// a time, because attributes also have plain numbers.
const near = 24 * 60 * 60

// newestSecond returns the second of the newest time in a body, 0 if there is none.
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
	for _, match := range nanos.FindAllSubmatch(body, -1) {
		if at, err := strconv.ParseInt(string(match[2]), 10, 64); err == nil && len(match[1]) > 0 {
			newest = max(newest, at/1e9)
		}
	}
	return newestSample(body, newest)
}

// newestSample returns the time of the newest sample, in seconds: the time of a profile is only its
// start.
func newestSample(body []byte, newest int64) int64 {
	last := newest
	for _, match := range nanos.FindAllSubmatch(body, -1) {
		if at, err := strconv.ParseInt(string(match[2]), 10, 64); err == nil && at/1e9-newest < near {
			last = max(last, at/1e9)
		}
	}
	return last
}

// shift moves every time in a body by a number of seconds.
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
			continue // elapsed time in a profile
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
	for _, match := range nanos.FindAllSubmatchIndex(body, -1) {
		text := shifted[match[4]:match[5]]
		value, _ := strconv.ParseInt(string(text), 10, 64)
		if distance := value/1e9 - newest; -near < distance && distance < near {
			copy(text, strconv.FormatInt(value+seconds*1e9, 10))
		}
	}
	shiftTraces(shifted, seconds)
	return shifted
}
