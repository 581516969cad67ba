// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

const (
	// idName matches names of IDs. It does not match debug IDs and code IDs (they identify files),
	// public keys, device IDs, and thread IDs.
	idName = `(?:[\w.-]*(?:event|profile|profiler|chunk|trace|[sS]pan|segment|replay|check_in)[_.]?[iI]d|sid)`

	idValue = `"([0-9a-fA-F]{16}|[0-9a-fA-F]{32}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})"`
)

// IDs are members, as plain text or as a typed attribute: {"value":"…","type":"string"}. In OTLP
// they are also attributes, with their key in text or in the dictionary. Other occurrences of such
// an ID, such as the transaction of a profile or a sentry-trace header, are found by its text.
var (
	idMember = regexp.MustCompile(`"` + idName + `"\s*:\s*(?:\{[^{}"]*(?:"type"\s*:\s*"string"\s*,\s*)?"value"\s*:\s*)?` + idValue)

	idAttribute = regexp.MustCompile(`"key":"` + idName + `","value":\{"stringValue":` + idValue)

	tableAttribute = regexp.MustCompile(`"keyStrindex":(\d+),"value":\{"stringValue":` + idValue)
	wholeIDName    = regexp.MustCompile(`^` + idName + `$`)
)

// idsIn returns the IDs in a body, without the hyphens of UUIDs. It skips IDs that consist of
// zeros.
func idsIn(body []byte) map[string]bool {
	ids := map[string]bool{}
	add := func(text []byte) {
		id := strings.ReplaceAll(string(text), "-", "")
		if strings.Trim(id, "0") != "" {
			ids[id] = true
		}
	}
	for _, match := range idMember.FindAllSubmatch(body, -1) {
		add(match[1])
	}
	for _, match := range idAttribute.FindAllSubmatch(body, -1) {
		add(match[1])
	}
	names := stringTable(body)
	for _, match := range tableAttribute.FindAllSubmatch(body, -1) {
		if i, err := strconv.Atoi(string(match[1])); err == nil && i < len(names) && wholeIDName.MatchString(names[i]) {
			add(match[2])
		}
	}
	return ids
}

// stringTable returns the strings of a dictionary, nil if the body has none.
func stringTable(body []byte) (table []string) {
	_, rest, _ := bytes.Cut(body, []byte(`"stringTable":`))
	_ = json.NewDecoder(bytes.NewReader(rest)).Decode(&table)
	return table
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

// readdress replaces the DSN that some SDKs repeat in the envelope header with the DSN of the
// request: the two must not contradict each other. The header is the first line, and its length may
// change.
func readdress(body []byte, to sentry.DSN) []byte {
	header, items, _ := bytes.Cut(body, []byte("\n"))
	header = dsnMember.ReplaceAllLiteral(header, []byte(`"dsn":"`+to.String()+`"`))
	header = keyMember.ReplaceAllLiteral(header, []byte(`"public_key":"`+to.PublicKey+`"`))
	return append(append(header[:len(header):len(header)], '\n'), items...)
}
