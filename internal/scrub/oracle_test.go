// SPDX-License-Identifier: Apache-2.0

package scrub

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

// The reference is Sentry's own library, the package sentry-relay of PyPI. testdata/oracle.jsonl.gz
// has its recorded results.
//
//	go test -run TestOracle                                   compares with the recorded results
//	make relay                                                installs the library, and runs it on 10^5 generated values per rule
//	RELAY_PYTHON=python3 go test -run TestOracle -record      records some of them
var (
	record = flag.Bool("record", false, "record the results of the reference")
	seed   = flag.Uint64("seed", 1, "seed of the generated values")
	values = flag.Int("values", 2000, "generated values per rule")
)

const recording = "testdata/oracle.jsonl.gz"

// exchange is a request to the reference, and its result.
type exchange struct {
	Rule   string          `json:"rule"`
	Config json.RawMessage `json:"config"`
	Values [][2]any        `json:"values"`
	Result []any           `json:"result,omitempty"`
}

// oracleRules are the rules that are compared: the defaults of a project, with further settings,
// and each built-in rule by itself.
func oracleRules() map[string]string {
	rules := map[string]string{
		"defaults":         `null`,
		"sensitive fields": `{"sensitiveFields":["sku","a.b"," "]}`,
		"safe fields":      `{"excludeFields":["password","my key","extra.*.token"]}`,
		"pattern":          `{"applications":{"$string":["r"]},"rules":{"r":{"type":"pattern","pattern":"a(b)?(c+)","replaceGroups":[1,2],"redaction":{"method":"mask"}}}}`,
		"redact_pair":      `{"applications":{"$string":["r"]},"rules":{"r":{"type":"redact_pair","keyPattern":"(?i)sku|tok","redaction":{"method":"replace","text":"gone"}}}}`,
		"alias":            `{"applications":{"$string":["r"]},"rules":{"r":{"type":"alias","rule":"@ip","hideInner":true,"redaction":{"method":"hash"}}}}`,
		"multiple":         `{"applications":{"$string":["r"]},"rules":{"r":{"type":"multiple","rules":["@email","@ip:mask","@anything:remove"]}}}`,
	}
	for kind := range builtinTypes {
		for _, method := range []string{"", ":replace", ":mask", ":hash", ":remove", ":filter"} {
			name := "@" + kind + method
			if _, known := builtin(name); known {
				rules[name] = fmt.Sprintf(`{"applications":{"$string":[%q]}}`, name)
			}
		}
	}
	for _, name := range []string{"@common", "@common:filter", "@urlauth:legacy", "@cookies:filter"} {
		rules[name] = fmt.Sprintf(`{"applications":{"$string":[%q]}}`, name)
	}
	return rules
}

func TestOracle(t *testing.T) {
	python := os.Getenv("RELAY_PYTHON")
	differences := &tally{}
	if python == "" {
		for _, e := range readRecording(t) {
			compare(t, e, differences)
		}
		t.Log(differences, "\nset RELAY_PYTHON to an interpreter with the package sentry-relay to run it")
		return
	}
	perRule, kept := *values, 0
	if *record {
		perRule, kept = batch, batch
	}
	var lock sync.Mutex
	var recorded []exchange
	t.Run("rules", func(t *testing.T) {
		for name, config := range oracleRules() {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				random := rand.New(rand.NewPCG(*seed, uint64(crc32.ChecksumIEEE([]byte(name)))))
				reference := startReference(t, python)
				for done := 0; done < perRule; done += batch {
					e := exchange{Rule: name, Config: json.RawMessage(config)}
					for range batch {
						e.Values = append(e.Values, generate(random))
					}
					e.Result = reference(e)
					compare(t, e, differences)
					if done < kept {
						lock.Lock()
						recorded = append(recorded, e)
						lock.Unlock()
					}
				}
			})
		}
	})
	t.Log(differences)
	if *record {
		slices.SortFunc(recorded, func(a, b exchange) int { return strings.Compare(a.Rule, b.Rule) })
		writeRecording(t, recorded)
	}
}

// batch is the number of values per request to the reference.
const batch = 250

// tally counts the values that were compared, and the listed differences by reason.
type tally struct {
	lock    sync.Mutex
	values  int
	rules   map[string]bool
	reasons map[string]int
}

func (c *tally) add(rule string, values int, reasons []string) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.rules == nil {
		c.rules, c.reasons = map[string]bool{}, map[string]int{}
	}
	c.rules[rule] = true
	c.values += values
	for _, reason := range reasons {
		c.reasons[reason]++
	}
}

func (c *tally) String() string {
	lines := fmt.Sprintf("compared %d values of %d rules with the reference", c.values, len(c.rules))
	for _, reason := range slices.Sorted(maps.Keys(c.reasons)) {
		lines += fmt.Sprintf("\n%7d differ: %s", c.reasons[reason], reason)
	}
	return lines
}

// compare scrubs the values of an exchange, and compares them with its result.
func compare(t *testing.T, e exchange, differences *tally) {
	t.Helper()
	s, err := New(configOf(t, e.Config))
	require.NoError(t, err)
	var reasons []string
	for i, value := range e.Values {
		got, want := scrubbed(t, s, value), e.Result[i]
		want = normalized(value[0].(string), value[1], want)
		if text, is := got.(string); is && want == any(text) {
			continue
		}
		g, _ := json.Marshal(got)
		w, _ := json.Marshal(want)
		if string(g) == string(w) {
			continue
		}
		reason := deviation(e.Rule, value)
		if bytes.Equal(marks.ReplaceAll(g, nil), marks.ReplaceAll(w, nil)) {
			reason = "the same is replaced; the library mixes up the marks after a replacement that contains another"
		}
		if reason == "" {
			before, _ := json.Marshal(value)
			t.Errorf("%s: %s\n got  %s\n want %s", e.Rule, before, g, w)
			continue
		}
		reasons = append(reasons, reason)
	}
	differences.add(e.Rule, len(e.Values), reasons)
}

// removedMark stands for removed values, and for containers and numbers that this package replaces.
const removedMark = "(removed)"

// configOf reads the configuration of an exchange.
func configOf(t *testing.T, text json.RawMessage) Config {
	var settings struct {
		Applications    map[string]any `json:"applications"`
		SensitiveFields []string       `json:"sensitiveFields"`
		ExcludeFields   []string       `json:"excludeFields"`
	}
	require.NoError(t, json.Unmarshal(text, &settings))
	if settings.Applications != nil {
		return Config{PIIConfig: string(text)}
	}
	c := DefaultConfig()
	c.SensitiveFields, c.SafeFields = settings.SensitiveFields, settings.ExcludeFields
	return c
}

// scrubbed returns a value after scrubbing as a member of an object in an event's extra data.
func scrubbed(t *testing.T, s *Scrubber, value [2]any) any {
	attributes := pcommon.NewMap()
	require.NoError(t, attributes.FromRaw(map[string]any{"sentry.extra": map[string]any{"0": map[string]any{value[0].(string): raw(value[1])}}}))
	w := s.walk("event")
	w.attributes(attributes)
	extra, ok := attributes.Get("sentry.extra")
	if !ok {
		return removedMark
	}
	all, _ := extra.Map().AsRaw()["0"].(map[string]any)
	return normalized(value[0].(string), value[1], all[value[0].(string)])
}

// normalized returns a result without the difference in what is left of values without a text: the
// library returns null, this package removes members and replaces others by [Filtered].
func normalized(key string, before, after any) any {
	switch before := before.(type) {
	case string:
		switch {
		case after == nil:
			return removedMark
		case isMark(after) && (sensitiveKey(key) || key == "sku" || key == "a.b"):
			return Filtered
		}
	case map[string]any:
		members, is := after.(map[string]any)
		if !is {
			return removedMark
		}
		all := map[string]any{}
		for key, member := range before {
			all[key] = normalized(key, member, members[key])
		}
		return all
	case []any:
		if _, is := after.([]any); !is {
			return removedMark
		}
	case float64:
		if after == nil || after == any(Filtered) {
			return removedMark
		}
	}
	return after
}

// raw makes whole numbers integers.
func raw(v any) any {
	if f, is := v.(float64); is && f == float64(int64(f)) {
		return int64(f)
	}
	return v
}

func startReference(t *testing.T, python string) func(exchange) []any {
	script, err := filepath.Abs("testdata/oracle.py")
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), python, script)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	require.NoError(t, err)
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	lines := bufio.NewReader(out)
	t.Cleanup(func() { in.Close(); _ = command.Wait() })
	return func(e exchange) (result []any) {
		request, err := json.Marshal(e)
		require.NoError(t, err)
		_, err = in.Write(append(request, '\n'))
		require.NoError(t, err)
		line, err := lines.ReadBytes('\n')
		require.NoError(t, err, "the reference ended: is the package sentry-relay installed?")
		require.NoError(t, json.Unmarshal(line, &result))
		return result
	}
}

func readRecording(t *testing.T) (all []exchange) {
	packed, err := os.ReadFile(recording)
	require.NoError(t, err)
	plain, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	decoder := json.NewDecoder(plain)
	for {
		var e exchange
		err := decoder.Decode(&e)
		if err == io.EOF {
			return all
		}
		require.NoError(t, err)
		all = append(all, e)
	}
}

func writeRecording(t *testing.T, all []exchange) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	for _, e := range all {
		require.NoError(t, json.NewEncoder(w).Encode(e))
	}
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile(recording, packed.Bytes(), 0o644))
}

var keys = []string{"a", "key", "password", "Password", "user_secret", "passwd", "api_key", "apiKey", "Api-Key", "author", "authority", "credentials",
	"MYSQL_PWD", "privateKey", "private-key", "token", "tokens", "my token", "otp", "OTP", "two-factor", "two_factor", "sku", "SKU2", "a.b", "axb", "my key",
	"to\u212aen", "\u017fecret", "cookies", "x"}

// pieces are parts of generated texts. A digit d, a letter l and a hexadecimal digit h of them are
// drawn.
var pieces = []string{
	"4ddddddddddddddd", "4ddd-dddd-dddd-dddd", "4ddd dddd dddd dddd", "34ddddddddddddd", "5155dddddddddddd", "6011dddddddddddd", "65dddddddddddddd",
	"4ddd\u00a0dddd\u2003dddd dddd", "dddddddddddddddd", "4dddddddddddddd", "4dddddddddddddddd", "4d\u0661d-dddddddddddd",
	"DE89370400440532dddddd", "NO938601111794d", "GBddABCDdddddddddd", "ZZdddddddddddddddddd", "dedddddddddddddddddd", "FRdd-dddd-dddd",
	"ddd-dd-dddd", "ddd-dd-ddddd", "dddd-dd-dddd", "d.d.d.d", "1d.2d.1dd.25d", "256.1.1.1", "1.2.3.4.5", "d.d.d", "v1.2.3.4", "01.002.1.1",
	"::1", "hhhh::hhhh", "hhhh:hhhh:hhhh:hhhh:hhhh:hhhh:hhhh:hhhh", "fe80::hh%eth0", "fe80:%en0", "::ffff:1.2.3.4", "2001:db8::h", "hh:hh:hh:hh:hh:hh", "hh-hh-hh-hh-hh-hh",
	"dd:dd:dd", "std::vector", "a::b", "::", "1:2:3:4:5:6:7:8", "hh::hh::hh", "64:ff9b::1.2.3.4",
	"hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh", "hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh", "dddddddddddddd-d", "dd-dddddd-dddddd-d",
	"l@l.ll", "l.l+d@ll-l.co.uk", "l@l", "@", "<l@ll.com>", "http://l:l@ll.com/l", "//l:l@l", "postgres://l:l%40@l:5432/l", "https://l@l.l", "x+y://l:l@l", "l//l:l@h",
	"-----BEGIN PRIVATE KEY-----\nllll\n-----END PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----ll", "-----END PUBLIC KEY-----", "-----BEGIN PUBLIC KEY-----\r\nl+/=\r\n-----END PUBLIC KEY-----",
	"-----BEGIN EC  KEY-----", "Bearer hhhh.l", "bearer\tl", "Bearer", "xBearer l", "bearer\u00a0hh", "password", "passwd=l", "api_key: l", "token l", "token: l", "tokenl=l", "token l=",
	"author", "OAuth", "credential", "credentials", "secrets", "private key", "two-factor", "otp", "to\u212aen:", "pa\u017fsword",
	"/home/llll/l", "C:\\Users\\lll\\l", "/Users/l l/x", "users/l", "documents and settings\\l", "x/profiles/l", "/home/", "session=hh; l=l", "l=l; csrf=hh",
	"abc", "acc", "b", "ac", "sku", "\u53f7", "é", " ", " ", " ", ",", "/", "\n", "\t", "\"", "'", "=", ":", ";", "-", ".", "_", "[", "]", "(", ")", "&", "?", "%", "\u00a0", "\u2028",
	"true", "null", "d", "l", "ll", "h", "hhhhhhhh",
}

// generate draws a value under a key.
func generate(random *rand.Rand) [2]any {
	key := "a"
	if random.IntN(4) == 0 {
		key = keys[random.IntN(len(keys))]
	}
	switch random.IntN(40) {
	case 0:
		return [2]any{key, float64(random.IntN(1 << 50))}
	case 1:
		return [2]any{key, random.IntN(2) == 0}
	case 2:
		return [2]any{key, []any{text(random), text(random), text(random)}}
	case 3:
		return [2]any{key, map[string]any{keys[random.IntN(len(keys))]: text(random), "b": text(random)}}
	case 4:
		return [2]any{key, []any{keys[random.IntN(len(keys))], text(random)}}
	case 5:
		return [2]any{key, []string{"", "true", "false", "null", "undefined", "otp", "two-factor"}[random.IntN(7)]}
	}
	return [2]any{key, text(random)}
}

func text(random *rand.Rand) string {
	var out strings.Builder
	for range 1 + random.IntN(5) {
		for _, c := range pieces[random.IntN(len(pieces))] {
			switch c {
			case 'd':
				c = rune('0' + random.IntN(10))
			case 'l':
				c = rune("abcdefghijklmnopqrstuvwxyzABCXYZ"[random.IntN(32)])
			case 'h':
				c = rune("0123456789abcdefABCDEF"[random.IntN(22)])
			}
			out.WriteRune(c)
		}
		if random.IntN(2) == 0 {
			out.WriteByte(' ')
		}
	}
	return out.String()
}

// besideLetter matches a text that touches a letter or a digit outside ASCII.
var besideLetter = regexp.MustCompile(`\S[^\x00-\x7f]|[^\x00-\x7f]\S`)

// fraction matches digits behind a decimal point, as many as those of a card.
var fraction = regexp.MustCompile(`[0-9]\.[3-6][0-9 -]{13}`)

// deviation returns the reason of a difference that doc.go lists, "" if none applies to a value.
func deviation(rule string, value [2]any) string {
	encoded, _ := json.Marshal(value)
	all, isList := value[1].([]any)
	switch {
	case isList && len(all) == 2:
		return "a list of two texts is a pair"
	case besideLetter.Match(encoded):
		return "a letter outside ASCII ends a word"
	case fraction.Match(encoded):
		return "digits behind a decimal point are no card number"
	case value[0] == "cookies", strings.Contains(string(encoded), `"cookies":`):
		return "session cookies in a text under the key cookies"
	case rule == "sensitive fields" && regexp.MustCompile(`SKU|A\.B|A\.b|a\.B`).Match(encoded):
		return "the library matches sensitive fields only in their own case, unlike the server"
	}
	return ""
}

// marks matches the replacements of all rules.
var marks = regexp.MustCompile(`\[[\w-]+\]`)

var onlyMarks = regexp.MustCompile(`^(\[\w+\]\s*)+$`)

// isMark reports whether a result is nothing but the mark of a rule.
func isMark(result any) bool {
	text, is := result.(string)
	return is && strings.HasPrefix(text, "[") && onlyMarks.MatchString(text)
}
