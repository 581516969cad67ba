// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"regexp"
	"strings"
)

// idMember matches members that are IDs, as plain text or as a typed attribute:
// {"value":"…","type":"string"}. Other occurrences of such an ID, such as the transaction of a
// profile or a sentry-trace header, are found by its text.
//
// It does not match debug IDs and code IDs (they identify files), public keys, device IDs, and
// thread IDs.
var idMember = regexp.MustCompile(`"(?:[\w.-]*(?:event|profile|profiler|chunk|trace|span|segment|replay|check_in)[_.]?[iI]d|sid)"\s*:\s*` +
	`(?:\{[^{}"]*(?:"type"\s*:\s*"string"\s*,\s*)?"value"\s*:\s*)?"([0-9a-fA-F]{16}|[0-9a-fA-F]{32}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})"`)

// idsIn returns the IDs in a body, without the hyphens of UUIDs. It skips IDs of zeros only.
func idsIn(body []byte) map[string]bool {
	ids := map[string]bool{}
	for _, match := range idMember.FindAllSubmatch(body, -1) {
		id := strings.ReplaceAll(string(match[1]), "-", "")
		if strings.Trim(id, "0") != "" {
			ids[id] = true
		}
	}
	return ids
}

// freshIDs assigns a new ID to each old ID.
type freshIDs struct{ byOld map[string]string }

func newIDs() *freshIDs { return &freshIDs{map[string]string{}} }

func (f *freshIDs) of(old string) string {
	if f.byOld[old] == "" {
		id := make([]byte, len(old)/2)
		_, _ = rand.Read(id) // never fails
		f.byOld[old] = hex.EncodeToString(id)
	}
	return f.byOld[old]
}

// replace overwrites all occurrences of the IDs in a body.
func (f *freshIDs) replace(body []byte) []byte {
	fresh := bytes.Clone(body)
	for old := range idsIn(body) {
		overwrite(fresh, body, old, f.of(old))
		if len(old) == 32 {
			overwrite(fresh, body, hyphenated(old), hyphenated(f.of(old)))
		}
	}
	return fresh
}

// overwrite writes into fresh wherever original has the old text, so that new text is never
// replaced again.
func overwrite(fresh, original []byte, old, text string) {
	for at := 0; ; {
		i := bytes.Index(original[at:], []byte(old))
		if i < 0 {
			return
		}
		at += i
		at += copy(fresh[at:], text)
	}
}

func hyphenated(id string) string {
	return id[:8] + "-" + id[8:12] + "-" + id[12:16] + "-" + id[16:20] + "-" + id[20:]
}

var (
	dsnMember = regexp.MustCompile(`"dsn"\s*:\s*"(?:[^"\\]|\\.)*"`)
	keyMember = regexp.MustCompile(`"public_key"\s*:\s*"[^"]*"`)
)

// readdress replaces the DSN in the envelope header, where some SDKs repeat theirs, with that of
// the collector: it must not contradict the request. The header is the first line, and its length
// may change.
func readdress(body []byte, to target) []byte {
	header, items, _ := bytes.Cut(body, []byte("\n"))
	header = dsnMember.ReplaceAllLiteral(header, []byte(`"dsn":"`+to.dsn()+`"`))
	header = keyMember.ReplaceAllLiteral(header, []byte(`"public_key":"`+to.key+`"`))
	return append(append(header[:len(header):len(header)], '\n'), items...)
}
