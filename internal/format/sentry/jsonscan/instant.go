// SPDX-License-Identifier: Apache-2.0

package jsonscan

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// instantReader reads the text of an instant as Sentry's ingest does
// (relay-event-schema/src/protocol/types.rs): by the rules of Rust's chrono for NaiveDateTime or
// else for DateTime<Utc>. That is RFC 3339, and more:
//
//   - White space is allowed around numbers and separators.
//   - Numbers may have fewer digits, and years a plus.
//   - A lower-case t or a blank may stand for the T, but only before a time zone.
//   - A second of 60 is the first of the next minute, in any minute.
//   - The offset has hours and minutes, with any colons and blanks between them or none. It may
//     also be "UTC", and its minus a U+2212.
type instantReader struct {
	rest   string
	failed bool
}

// Instant reads the text of an instant, in UTC. zoned reports whether the text has a time zone;
// without one, it is in UTC too.
func Instant(text string) (t time.Time, zoned, ok bool) {
	if strings.HasSuffix(text, "Z") && !strings.Contains(text, ",") { // the usual form; the package time would accept a comma
		if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
			return t, true, true
		}
	}
	r := instantReader{rest: text}
	r.space()
	yearDigits := 4
	if r.skip('+') {
		yearDigits = len(r.rest)
	}
	year := r.digits(yearDigits)
	r.separator('-')
	month := r.number(2)
	r.separator('-')
	day := r.number(2)
	naive, zoned := r.between()
	hour := r.number(2)
	r.separator(':')
	minute := r.number(2)
	r.separator(':')
	second := r.number(2)
	nanos := 0
	if r.skip('.') {
		nanos = r.fraction()
	}
	r.space()
	offset := 0
	if naive = naive && r.rest == ""; !naive {
		offset = r.offset()
		r.space()
	}
	if r.failed || r.rest != "" || !naive && !zoned || hour > 23 || minute > 59 || second > 60 || year > 9999 {
		return time.Time{}, false, false
	}
	date := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if int(date.Month()) != month || date.Day() != day {
		return time.Time{}, false, false
	}
	seconds := 60*(60*hour+minute) + second - offset
	return date.Add(time.Duration(seconds*NanosPerSecond + nanos)), !naive, true
}

// between reads what separates date and time, and reports which kinds of instants have it.
func (r *instantReader) between() (naive, zoned bool) {
	before := r.rest
	r.space()
	if zoned = len(r.rest) == len(before); r.skip('T') {
		return true, zoned
	}
	r.rest = before
	return false, r.skip('t') || r.skip(' ')
}

// offset reads a time zone, in seconds.
func (r *instantReader) offset() (seconds int) {
	if r.skip('Z') || r.skip('z') {
		return 0
	}
	if len(r.rest) >= 3 && strings.EqualFold(r.rest[:3], "UTC") {
		r.rest = r.rest[3:]
		return 0
	}
	sign := 1
	switch {
	case r.skip('+'):
	case r.skip('-'):
		sign = -1
	default:
		rest, minus := strings.CutPrefix(r.rest, "\u2212")
		r.rest, r.failed, sign = rest, r.failed || !minus, -1
	}
	hours := r.twoDigits()
	r.rest = strings.TrimLeftFunc(r.rest, func(c rune) bool { return c == ':' || unicode.IsSpace(c) })
	minutes := r.twoDigits()
	r.failed = r.failed || hours > 23 || minutes > 59
	return sign * 60 * (60*hours + minutes)
}

func (r *instantReader) twoDigits() int {
	length := len(r.rest)
	n := r.digits(2)
	r.failed = r.failed || length-len(r.rest) != 2
	return n
}

// number reads a number after white space.
func (r *instantReader) number(most int) int {
	r.space()
	return r.digits(most)
}

func (r *instantReader) digits(most int) (n int) {
	i := 0
	for ; i < len(r.rest) && i < most && IsDigit(r.rest[i]); i++ {
		n = min(10*n+int(r.rest[i]-'0'), 1<<16) // a year may have any number of digits
	}
	r.rest = r.rest[i:]
	r.failed = r.failed || i == 0
	return n
}

// fraction reads the decimals of a second in nanoseconds, and ignores further ones.
func (r *instantReader) fraction() (nanos int) {
	i, unit := 0, NanosPerSecond
	for ; i < len(r.rest) && IsDigit(r.rest[i]); i++ {
		unit /= 10
		nanos += unit * int(r.rest[i]-'0')
	}
	r.rest = r.rest[i:]
	r.failed = r.failed || i == 0
	return nanos
}

func (r *instantReader) separator(c byte) {
	r.space()
	if !r.skip(c) {
		r.failed = true
	}
}

func (r *instantReader) skip(c byte) bool {
	if r.rest == "" || r.rest[0] != c {
		return false
	}
	r.rest = r.rest[1:]
	return true
}

func (r *instantReader) space() {
	if r.rest == "" || r.rest[0] > ' ' && r.rest[0] < utf8.RuneSelf {
		return // the usual case
	}
	r.rest = strings.TrimLeftFunc(r.rest, unicode.IsSpace)
}
