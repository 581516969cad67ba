// SPDX-License-Identifier: Apache-2.0

package arttrace

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// parseText reads the text of a trace, without its last line. It skips unknown keys, such as
// alloc-count of newer versions of ART, and invalid lines. The method of a skipped line is an
// unknown method in records.
func (t *Trace) parseText(text string) {
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "*"):
			section = line
			if section == "*methods" {
				t.Methods = make([]Method, 0, len(text)/bytesOfMethodLine)
			}
		case section == "*version":
			key, value, _ := strings.Cut(line, "=")
			t.setting(key, value)
		case section == "*threads":
			t.addThreadLine(line)
		case section == "*methods":
			t.addMethodLine(line)
		}
	}
}

func (t *Trace) setting(key, value string) {
	switch key {
	case "data-file-overflow":
		t.Overflow = value == "true"
	case "clock":
		t.Clock = clocks[value]
	case "elapsed-time-usec":
		if elapsed, err := strconv.ParseUint(value, 10, 64); err == nil {
			t.Elapsed = time.Duration(min(elapsed, maxMicros)) * time.Microsecond
		}
	case "vm":
		t.VM = value
	case "pid":
		t.PID = value
	}
}

// maxMicros is the longest time.Duration in microseconds.
const maxMicros = math.MaxInt64 / uint64(time.Microsecond)

func (t *Trace) addThreadLine(line string) {
	id, name, _ := strings.Cut(line, "\t")
	if number, err := strconv.ParseUint(id, 10, 32); err == nil {
		t.addThread(Thread{ID: uint32(number), Name: name})
	}
}

// bytesOfMethodLine is the approximate length of a line: 128 bytes in recorded traces.
const bytesOfMethodLine = 96

// addMethodLine reads a line of the form 0x1234 TAB class TAB method TAB signature TAB file TAB
// line. The fields at the end may be missing. A line without names is skipped.
func (t *Trace) addMethodLine(line string) {
	var m Method
	text, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
	id, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 32)
	if err != nil || rest == "" {
		return
	}
	m.ID = uint32(id) &^ actionMask
	for _, field := range [...]*string{&m.Class, &m.Name, &m.Signature, &m.File} {
		*field, rest, _ = strings.Cut(rest, "\t")
	}
	if rest != "" { // strconv would allocate an error, and most lines have no line number
		if number, err := strconv.ParseUint(rest, 10, 32); err == nil {
			m.Line = uint32(number)
		}
	}
	t.addMethod(m)
}
