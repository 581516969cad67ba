// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/sentrytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentryitems"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/pyroscopetest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromandroid"
)

// made holds the envelopes that are too large for a file.
var made = map[string]func() []byte{oversizedCase: oversizedEnvelope}

const oversizedCase = "rule-payload-size"

// configured are the settings of cases that are about a setting.
var configured = map[string]func(*Config){"include-pii": func(cfg *Config) { cfg.IncludePII, cfg.Scrubbing.IPAddresses = true, false }}

// oversizedEnvelope has a chunk that breaks no rule but that it is one byte larger than Sentry
// takes.
var oversizedEnvelope = sync.OnceValue(func() []byte {
	padding := bytes.Repeat([]byte(" "), sentry.MaxProfileSize+1-len(goodChunk))
	payload := goodChunk[:1] + string(padding) + goodChunk[1:]
	return []byte(envelope(item("profile_chunk", `,"platform":"go"`, payload)))
})

// skipOversized skips what sends 50 MiB in small size.
func skipOversized(t *testing.T, name string) {
	if name == oversizedCase {
		testsize.NeedFull(t)
	}
}

func envelopeOf(t *testing.T, c golden.Case) []byte {
	if c.Envelope != nil {
		return c.Envelope
	}
	require.Contains(t, made, c.Name, "no in.envelope")
	return made[c.Name]()
}

// TestCases sends every case to a receiver, once with each kind of validation, and compares all
// that can be seen of it. In small size, strict validation is only tried for cases whose outcome
// differs with it.
func TestCases(t *testing.T) {
	for _, c := range golden.SampleCases(t) { // TestCasesTogether compares the messages of all
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			skipOversized(t, c.Name)
			body := envelopeOf(t, c)
			lenient := receive(t, body, profile.Lenient, configured[c.Name])
			strict, outcome := received{}, "lenient: "+lenient.text
			wanted, _, _ := strings.Cut(c.Read(t, "outcome.txt"), "strict: ")
			differs := c.Read(t, "outcome.txt") != wanted+"strict: "+strings.TrimPrefix(wanted, "lenient: ")
			if testsize.Full() || golden.Updating() || differs {
				strict = receive(t, body, profile.Strict, configured[c.Name])
				c.Compare(t, "outcome.txt", outcome+"strict: "+strict.text)
			} else {
				require.Contains(t, c.Read(t, "outcome.txt"), outcome+"strict: ", c.Name)
			}
			for _, file := range golden.Signals {
				c.Compare(t, file, strings.Join(lenient.dumps[file], "\n"))
			}
			for _, profile := range strict.dumps[golden.Profiles] {
				assert.Contains(t, lenient.dumps[golden.Profiles], profile, "strict validation discards profiles, it does not change any")
			}
			checkObservations(t, body, lenient.messages)
			stored := pyroscopetest.Check(t, lenient.messages...)
			if c.Name != "hostile-ids" { // its profiles differ only in IDs that are not valid
				stored.MustSurvive(t)
			}
		})
	}
}

// TestCasesTogether sends all cases to one receiver, several at a time, and looks at what came out
// only at the end: nothing of it may point into memory that the next requests have used since.
func TestCasesTogether(t *testing.T) {
	s := startSignals(t, nil)
	var requests sync.WaitGroup
	limit := make(chan struct{}, 4)
	expected := map[string]int{} // messages in words → how many of them
	before := time.Now()
	for _, c := range golden.Cases(t) {
		if c.Envelope == nil || configured[c.Name] != nil {
			continue
		}
		for _, file := range golden.Signals {
			for text := range strings.SplitSeq(c.Read(t, file), "\n\n") {
				expected[strings.TrimSuffix(text, "\n")]++
			}
		}
		limit <- struct{}{}
		req := caseRequest(s.harness, c.Envelope)
		requests.Go(func() {
			defer func() { <-limit }()
			resp, err := s.client.Do(req)
			if assert.NoError(t, err) {
				resp.Body.Close()
			}
		})
	}
	requests.Wait()

	delete(expected, "") // of signals that a case gives nothing for
	for _, messages := range s.dumps(golden.Receipt{From: before, To: time.Now()}) {
		for _, message := range messages {
			text := strings.TrimSuffix(message, "\n")
			if expected[text]--; expected[text] < 0 {
				t.Errorf("in no golden, or there less often:\n%s", text)
			}
		}
	}
	for text, missing := range expected {
		if missing > 0 {
			t.Errorf("in a golden, but %d times less often here:\n%s", missing, text)
		}
	}
}

// checkObservations compares what came out with a second reading of what was sent: every message
// has the samples of a profile item, all of them and in the order of the items. Which items give no
// message, the goldens show.
func checkObservations(t *testing.T, body []byte, messages []pprofile.Profiles) {
	envelope, _ := sentry.ReadEnvelope(body)
	items := envelope.Items
	for n, message := range messages {
		profile := message.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0)
		got := golden.Observed(message.Dictionary(), profile)
		next := slices.IndexFunc(items, func(item sentry.Item) bool {
			if item.Header.Type == sentry.ItemOtelProfilesData { // passed on
				return true
			}
			if t := item.Header.Type; t != sentry.ItemProfile && t != sentry.ItemProfileChunk && t != sentry.ItemProfileChunkUI {
				return false
			}
			if isTrace(item) { // package fromandroid compares those
				return true
			}
			sent, err := sentrytest.ReadItem(string(item.Header.Type), item.Payload)
			start := uint64(0)
			if item.Header.Type == sentry.ItemProfile {
				start = uint64(profile.Time())
			}
			return err == nil && got.Diff(golden.Expected(sent, start)) == ""
		})
		if next < 0 {
			t.Errorf("message %d has other samples than any item that is left; got %v", n+1, got)
			return
		}
		items = items[next+1:]
	}
}

// isTrace reports whether an item has a trace of Android that can be used.
func isTrace(item sentry.Item) bool {
	decoder, subject, err := new(profile.Decoder), profile.Subject{}, error(nil)
	switch meta := item.Header.MetaLength; {
	case item.Header.Type == sentry.ItemProfile:
		subject.Profile, err = decoder.Profile(item.Payload)
	case meta.Set:
		subject.Chunk, err = decoder.Perfetto(item.Payload[:meta.Value], item.Payload[meta.Value:])
	default:
		subject.Chunk, err = decoder.Chunk(item.Payload)
	}
	if err != nil {
		return false
	}
	android := subject.Android()
	switch {
	case android == nil || android.Unusable != nil:
		return false
	case android.PerfettoTrace != nil:
		_, err = fromandroid.PerfettoTrace(android.PerfettoTrace)
	default:
		_, err = fromandroid.MethodTrace(android.MethodTrace, profile.NominalPeriod, attr.SpareObservations)
	}
	return err == nil
}

// TestEveryCaseIsComplete keeps folders from being half a case, and from having a file too many: an
// empty golden is none.
func TestEveryCaseIsComplete(t *testing.T) {
	for _, c := range golden.Cases(t) {
		want := []string{"case.md", "outcome.txt"}
		if made[c.Name] == nil {
			want = append(want, "in.envelope")
		}
		for _, file := range golden.Signals {
			if c.Read(t, file) != "" {
				want = append(want, file)
			}
		}
		assert.ElementsMatch(t, want, c.Files(t), c.Name)
		about := c.Read(t, "case.md")
		assert.NotEmpty(t, strings.TrimSpace(about), c.Name)
		assert.Equal(t, 1, strings.Count(about, "\n"), "case.md of %s is one line", c.Name)
	}
}

// TestEveryItemTypeHasACase: of every type that something is made of, a case shows what.
func TestEveryItemTypeHasACase(t *testing.T) {
	shown := map[sentry.ItemType]bool{}
	for _, c := range golden.Cases(t) {
		envelope, _ := sentry.ReadEnvelope(c.Envelope)
		for _, item := range envelope.Items {
			accepted := regexp.MustCompile(`\d ` + string(item.Header.Type) + ` accepted`)
			shown[item.Header.Type] = shown[item.Header.Type] || accepted.MatchString(c.Read(t, "outcome.txt"))
		}
	}
	for itemType := range sentryitems.Types {
		assert.True(t, shown[itemType], itemType)
	}
}

// TestEveryRuleHasItsCase holds the table of rules against what the receiver does: the case of a
// rule breaks it and no other, is tolerated under its name where validation is lenient, and
// discarded for its reason where it is strict.
func TestEveryRuleHasItsCase(t *testing.T) {
	cases := map[string]golden.Case{}
	for _, c := range golden.Cases(t) {
		cases[c.Name] = c
	}
	for _, rule := range profile.Rules {
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, cases, rule.Case)
			skipOversized(t, rule.Case)
			body := envelopeOf(t, cases[rule.Case])

			// The limit of the configuration comes before the rule about the size. Only above it
			// does the rule show.
			edit := func(*Config) {}
			if rule.Name == "payload_size" {
				edit = func(cfg *Config) { cfg.MaxProfileSize = 2 * sentry.MaxProfileSize }
			}
			lenient := receive(t, body, profile.Lenient, edit)
			assert.Equal(t, map[string]int64{rule.Name: 1}, lenient.tolerated)
			assert.NotContains(t, lenient.text, string(pipeline.Discarded))

			strict := receive(t, body, profile.Strict, edit)
			assert.Empty(t, strict.tolerated)
			discarded := 0
			for _, item := range strict.items {
				if item.outcome == string(pipeline.Discarded) {
					discarded++
					assert.Equal(t, string(rule.Strict), item.reason)
				}
			}
			assert.Equal(t, 1, discarded)
		})
	}
}

// received is what can be seen of one request from outside.
type received struct {
	text      string // the outcome in words
	messages  []pprofile.Profiles
	dumps     map[string][]string // the messages in words, by golden file
	items     []countedItem
	tolerated map[string]int64 // profiles by rule
}

type countedItem struct {
	itemType, outcome, reason string
	count                     int64
}

// receive posts an envelope to a fresh receiver, so that its counters are about this request only.
func receive(t *testing.T, body []byte, validation profile.Validation, edit func(*Config)) received {
	s := startSignals(t, func(cfg *Config) {
		cfg.Validation = validation
		if edit != nil {
			edit(cfg)
		}
	})
	before := time.Now()
	reply := s.do(caseRequest(s.harness, body))

	r := received{messages: s.sink.profiles, dumps: s.dumps(golden.Receipt{From: before, To: time.Now()})}
	for _, message := range r.messages {
		dictionarytest.MustBeValid(t, message)
	}
	r.items, r.tolerated = s.countedItems(), byAttribute(s.harness, "otelcol_receiver_sentry_profiles_tolerated", "rule")
	r.text = outcomeText(s.harness, reply, body, r)
	return r
}

// dumps says in words what came out so far, message by message, by golden file.
func (s *signals) dumps(receipt golden.Receipt) map[string][]string {
	all := map[string][]string{}
	for _, message := range s.sink.profiles {
		all[golden.Profiles] = append(all[golden.Profiles], dumpWithoutReceipt(message, receipt))
	}
	for _, message := range s.traces.AllTraces() {
		all[golden.Traces] = append(all[golden.Traces], golden.DumpTraces(message, receipt))
	}
	for _, message := range s.logs.AllLogs() {
		all[golden.Logs] = append(all[golden.Logs], golden.DumpLogs(message, receipt))
	}
	for _, message := range s.points.AllMetrics() {
		all[golden.Metrics] = append(all[golden.Metrics], golden.DumpMetrics(message, receipt))
	}
	return all
}

// caseRequest is for the project and key of the recordings, which often name them in the envelope
// as well. Most envelopes name the SDK; where it comes from the credentials, it shows. A
// recording is received long after it was sent, and at a different time in each run: TestClockDrift
// is about sent_at.
func caseRequest(h *harness, body []byte) *http.Request {
	key := fmt.Sprintf("%032x", crc32.ChecksumIEEE(body)) // another program for each case: what one states is not known of the next
	query := "?sentry_key=" + key + "&sentry_version=7&sentry_client=sentry.of-the-credentials/1.0"
	head, items, _ := bytes.Cut(body, []byte("\n"))
	head = bytes.Replace(head, []byte(`"sent_at"`), []byte(`"kept_at"`), 1)
	head = bytes.Replace(head, []byte(testKey), []byte(key), 1) // in the DSN
	return h.request(http.MethodPost, "/api/4507/envelope/"+query, bytes.NewReader(append(append(head, '\n'), items...)))
}

// dumpWithoutReceipt is the dump of a message. A profile that has nothing else to go by is placed
// by the time of receipt, which is another every time: the dump then says so.
func dumpWithoutReceipt(message pprofile.Profiles, receipt golden.Receipt) string {
	text := dictionarytest.Dump(message)
	profile := message.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0)
	last := uint64(0)
	for _, sample := range profile.Samples().All() {
		last = max(last, slices.Max(sample.TimestampsUnixNano().AsRaw()))
	}
	if last < uint64(receipt.From.UnixNano()) || last > uint64(receipt.To.UnixNano()) {
		return text
	}
	head, tail, _ := strings.Cut(text, "\n  time ")
	_, tail, _ = strings.Cut(tail, "\n")
	return head + "\n  time      such that the last sample is at the time of receipt\n" + tail
}
