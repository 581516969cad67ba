package sentryreceiver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/internal/dictionary/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry/sentrytest"
)

// made holds the envelopes that are too large for a file.
var made = map[string]func() []byte{"rule-payload-size": oversizedEnvelope}

// oversizedEnvelope has a chunk that breaks no rule but that it is one byte larger than Sentry takes.
func oversizedEnvelope() []byte {
	padding := bytes.Repeat([]byte(" "), sentry.MaxProfileSize+1-len(goodChunk))
	payload := goodChunk[:1] + string(padding) + goodChunk[1:]
	return []byte(envelope(item("profile_chunk", `,"platform":"go"`, payload)))
}

func envelopeOf(t *testing.T, c golden.Case) []byte {
	if c.Envelope != nil {
		return c.Envelope
	}
	require.Contains(t, made, c.Name, "no in.envelope")
	return made[c.Name]()
}

// TestCases sends every case to a receiver, once with each kind of validation, and compares all that can be seen of it.
func TestCases(t *testing.T) {
	for _, c := range golden.Cases(t) {
		t.Run(c.Name, func(t *testing.T) {
			body := envelopeOf(t, c)
			lenient := receive(t, body, sentry.Lenient, nil)
			strict := receive(t, body, sentry.Strict, nil)
			c.Compare(t, "outcome.txt", "lenient: "+lenient.text+"strict: "+strict.text)
			c.Compare(t, "profiles.txt", strings.Join(lenient.profiles, "\n"))
			for _, profile := range strict.profiles {
				assert.Contains(t, lenient.profiles, profile, "strict validation discards profiles, it does not change any")
			}
			checkObservations(t, body, lenient.messages)
		})
	}
}

// TestCasesTogether sends all cases to one receiver, several at a time, and looks at what came out only at the end: nothing of
// it may point into memory that the next requests have used since.
func TestCasesTogether(t *testing.T) {
	h := start(t, nil)
	var requests sync.WaitGroup
	limit := make(chan struct{}, 4)
	expected := map[string]int{} // messages in words → how many of them
	before := time.Now()
	for _, c := range golden.Cases(t) {
		for text := range strings.SplitSeq(c.Read(t, "profiles.txt"), "\n\n") {
			expected[strings.TrimSuffix(text, "\n")]++
		}
		if c.Envelope == nil {
			continue
		}
		limit <- struct{}{}
		req := caseRequest(h, c.Envelope)
		requests.Go(func() {
			defer func() { <-limit }()
			resp, err := h.client.Do(req)
			if assert.NoError(t, err) {
				resp.Body.Close()
			}
		})
	}
	requests.Wait()
	after := time.Now()

	delete(expected, "") // of cases that give nothing
	for _, message := range h.sink.profiles {
		text := strings.TrimSuffix(dumpWithoutReceipt(message, before, after), "\n")
		if expected[text]--; expected[text] < 0 {
			t.Errorf("in no golden, or there less often:\n%s", text)
		}
	}
	for text, missing := range expected {
		if missing > 0 {
			t.Errorf("in a golden, but %d times less often here:\n%s", missing, text)
		}
	}
}

// checkObservations compares what came out with a second reading of what was sent: every message has the samples of a profile
// item, all of them and in the order of the items. Which items give no message, the goldens show.
func checkObservations(t *testing.T, body []byte, messages []pprofile.Profiles) {
	envelope, _ := sentry.ReadEnvelope(body)
	items := envelope.Items
	for n, message := range messages {
		profile := message.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0)
		got := golden.Observed(message.Dictionary(), profile)
		next := slices.IndexFunc(items, func(item sentry.Item) bool {
			if !isProfile(item.Header.Type) {
				return false
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

// TestEveryCaseIsComplete keeps folders from being half a case: a test that reads a file that is not there fails, but not
// for one too many.
func TestEveryCaseIsComplete(t *testing.T) {
	for _, c := range golden.Cases(t) {
		want := []string{"case.md", "in.envelope", "outcome.txt", "profiles.txt"}
		if made[c.Name] != nil {
			want = slices.DeleteFunc(want, func(file string) bool { return file == "in.envelope" })
		}
		assert.Equal(t, want, c.Files(t), c.Name)
		about := c.Read(t, "case.md")
		assert.NotEmpty(t, strings.TrimSpace(about), c.Name)
		assert.Equal(t, 1, strings.Count(about, "\n"), "case.md of %s is one line", c.Name)
	}
}

// TestEveryRuleHasItsCase holds the table of rules against what the receiver does: the case of a rule breaks it and no
// other, is tolerated under its name where validation is lenient, and discarded for its reason where it is strict.
func TestEveryRuleHasItsCase(t *testing.T) {
	cases := map[string]golden.Case{}
	for _, c := range golden.Cases(t) {
		cases[c.Name] = c
	}
	for _, rule := range sentry.Rules {
		t.Run(rule.Name, func(t *testing.T) {
			require.Contains(t, cases, rule.Case)
			body := envelopeOf(t, cases[rule.Case])

			// The limit of the configuration comes before the rule about the size. Only above it does the rule show.
			edit := func(*Config) {}
			if rule.Name == "payload_size" {
				edit = func(cfg *Config) { cfg.MaxProfileSize = 2 * sentry.MaxProfileSize }
			}
			lenient := receive(t, body, sentry.Lenient, edit)
			assert.Equal(t, map[string]int64{rule.Name: 1}, lenient.tolerated)
			assert.NotContains(t, lenient.text, string(outcomeDiscarded))

			strict := receive(t, body, sentry.Strict, edit)
			assert.Empty(t, strict.tolerated)
			discarded := 0
			for _, item := range strict.items {
				if item.outcome == string(outcomeDiscarded) {
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
	profiles  []string // the messages in words
	items     []countedItem
	tolerated map[string]int64 // profiles by rule
}

type countedItem struct {
	itemType, outcome, reason string
	count                     int64
}

// receive posts an envelope to a fresh receiver, so that its counters are about this request only.
func receive(t *testing.T, body []byte, validation sentry.Validation, edit func(*Config)) received {
	h := start(t, func(cfg *Config) {
		cfg.Validation = validation
		if edit != nil {
			edit(cfg)
		}
	})
	before := time.Now()
	reply := h.do(caseRequest(h, body))
	after := time.Now()

	var r received
	r.messages = h.sink.profiles
	for _, message := range r.messages {
		dictionarytest.MustBeValid(t, message)
		r.profiles = append(r.profiles, dumpWithoutReceipt(message, before, after))
	}
	r.items, r.tolerated = h.countedItems(), byAttribute(h, "otelcol_receiver_sentry_profiles_tolerated", "rule")
	r.text = outcomeText(h, reply, body, r)
	return r
}

// caseRequest is for the project and key of the recordings, which often name them in the envelope as well. Most envelopes
// name the SDK; where it comes from the credentials, it shows.
func caseRequest(h *harness, body []byte) *http.Request {
	const query = "?sentry_key=" + testKey + "&sentry_version=7&sentry_client=sentry.of-the-credentials/1.0"
	return h.request(http.MethodPost, "/api/4507/envelope/"+query, bytes.NewReader(body))
}

// dumpWithoutReceipt is the dump of a message. A profile that has nothing else to go by is placed by the time of receipt,
// which is another every time: the dump then says so.
func dumpWithoutReceipt(message pprofile.Profiles, before, after time.Time) string {
	text := dictionary.Dump(message)
	profile := message.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0)
	last := uint64(0)
	for _, sample := range profile.Samples().All() {
		last = max(last, slices.Max(sample.TimestampsUnixNano().AsRaw()))
	}
	if last < uint64(before.UnixNano()) || last > uint64(after.UnixNano()) {
		return text
	}
	head, tail, _ := strings.Cut(text, "\n  time ")
	_, tail, _ = strings.Cut(tail, "\n")
	return head + "\n  time      such that the last sample is at the time of receipt\n" + tail
}

// outcomeText says in words how a request was answered and what the receiver counted.
func outcomeText(h *harness, reply reply, body []byte, r received) string {
	var text strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }

	line("%d %s", reply.status, withoutMadeUpID(h.t, reply.text, body))
	for _, header := range []string{sentry.HeaderRateLimits, "Retry-After"} {
		if value := reply.header.Get(header); value != "" {
			line("  %s: %s", header, value)
		}
	}
	for _, item := range r.items {
		line("  %s", strings.TrimSpace(fmt.Sprintf("%d %s %s %s", item.count, item.itemType, item.outcome, item.reason)))
	}
	for _, refused := range inOrder(byAttribute(h, "otelcol_receiver_sentry_requests_rejected", "reason")) {
		line("  request rejected %s", refused.name)
	}
	for _, lost := range inOrder(byAttribute(h, "otelcol_receiver_sentry_samples_discarded", "reason")) {
		line("  samples lost: %d %s", lost.count, lost.name)
	}
	for _, rule := range inOrder(r.tolerated) {
		line("  tolerated: %s in %d", rule.name, rule.count)
	}
	return text.String()
}

// withoutMadeUpID replaces an id that is not in the envelope: the receiver has made it up.
func withoutMadeUpID(t *testing.T, answer string, body []byte) string {
	var id struct {
		ID string `json:"id"`
	}
	require.NoError(t, json.Unmarshal([]byte(answer), &id))
	if envelope, err := sentry.ReadEnvelope(body); id.ID == "" || err == nil && envelope.Header.EventID == id.ID {
		return answer
	}
	return strings.Replace(answer, id.ID, "(made up)", 1)
}

func (h *harness) countedItems() (items []countedItem) {
	for attributes, count := range h.items() {
		item := countedItem{count: count}
		for _, attribute := range strings.Fields(attributes) {
			switch key, value, _ := strings.Cut(attribute, "="); key {
			case "type":
				item.itemType = value
			case "outcome":
				item.outcome = value
			case "reason":
				item.reason = value
			}
		}
		items = append(items, item)
	}
	slices.SortFunc(items, func(a, b countedItem) int {
		return strings.Compare(a.itemType+" "+a.outcome+" "+a.reason, b.itemType+" "+b.outcome+" "+b.reason)
	})
	return items
}

// byAttribute gives a counter's values by its only attribute.
func byAttribute(h *harness, metric, attribute string) map[string]int64 {
	values := map[string]int64{}
	for text, value := range h.counts(metric) {
		values[strings.TrimPrefix(text, attribute+"=")] = value
	}
	return values
}

type named struct {
	name  string
	count int64
}

func inOrder(counts map[string]int64) (list []named) {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, named{name, counts[name]})
	}
	return list
}
