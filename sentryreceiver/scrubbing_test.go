// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/scrub"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// Secrets are planted in recorded requests: as members of every JSON object, and behind every text
// that is not the name of something. Each is unique, so that a leak states its place.

// planted matches the cases in which secrets are planted: every item type, and an SDK of each kind.
var planted = regexp.MustCompile(`^(all-fields-.*|include-pii|described-items|user-feedback|older-names|android-measurements|android-v2-art|` +
	`(event|check-in|logs|spans|transaction|trace-metrics|session|sessions|client-report|feedback|security|replay)-(python|node|browser|java|ruby)|sdk-(python|node|browser).*)$`)

// sensitiveMembers are members that Sentry's default rules remove; %s is the secret.
var sensitiveMembers = map[string]string{
	"password": `"%s"`, "api_key": `"%s"`, "access_token": `"%s"`, "private_key": `"%s"`, "X-Auth-Token": `"%s"`,
	"credentials":    `{"nested": ["%s"]}`,
	"plantedHeaders": `[["Cookie", "sid=%s"], ["X-Auth-Token", "%s"], ["Authorization", "%s"]]`,
	"plantedPairs":   `[{"name": "Cookie", "value": "%s"}, {"key": "api_key", "value": "%s"}]`,
	"plantedRaw":     `["X-Api-Key", "%s", "Cookie", "%s"]`,
	"plantedJSON":    `"{\"password\": \"%s\", \"a\": [{\"name\": \"token\", \"value\": \"%s\"}]}"`,
	"plantedURL":     `"postgres://u:%s@db/x?password=%s"`,
}

// secretTexts are texts of each class.
var secretTexts = []string{
	"password=%s", `{"api_key": "%s"}`, "postgres://u:%s@db/x", "Bearer %s", "-----BEGIN PRIVATE KEY-----\n%s\n-----END PRIVATE KEY-----",
	"Authorization: Basic %s", `[["X-Auth-Token", "%s"]]`, "https://h/?access_token=%s",
}

// names are members whose text identifies something: Sentry's default rules leave them, and a
// secret behind them would make the item unusable.
var names = regexp.MustCompile(`(?i)(^|_)(ids?|uuid|time|timestamp|started|version|type|level|status|platform|release|dist|environment|checksum|unit|arch|addr|` +
	`address|sdk|name_source|source|slug|integrations|trace|sampled|outcome|reason|category|state|method|items|image_vmaddr|sid|did|origin|op|kind|mechanism|` +
	`profiler|clock|build|packages|locale|orientation|timezone|data_category|rule)$|^(code_file|debug_file|module|modules|function|raw_function|filename|abs_path|package|platform|` +
	`fingerprint|environment|init|dsn|sentry_.*|culprit|transaction|schedule|logger|measurements|_meta|language)$|version|[iI]d$|^(sentry|os|device|app|thread|browser|network|culture|process|code)\.`)

// planter plants secrets, and knows them.
type planter struct {
	secrets map[string]string // secret → place
	member  bool              // plant members, not texts
	turn    int               // which text comes next
}

func (p *planter) secret(place string) string {
	s := fmt.Sprintf("hush%06dhush", len(p.secrets))
	p.secrets[s] = place
	return s
}

func (p *planter) fill(template, place string) string {
	for strings.Contains(template, "%s") {
		template = strings.Replace(template, "%s", p.secret(place), 1)
	}
	return template
}

func (p *planter) plant(value any, place string) any {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			name := key
			if key == "value" { // of an attribute
				name = place[strings.LastIndex(place, "attributes.")+1:]
				name = strings.TrimPrefix(name, "ttributes.")
			}
			if text, is := value[key].(string); is && (p.member || names.MatchString(name) || text == "") || key == "modules" || key == "sdk" ||
				!p.member && key == "value" && names.MatchString(name) {
				continue
			}
			value[key] = p.plant(value[key], place+"."+key)
		}
		if p.member && !strings.HasSuffix(place, "measurements") {
			for key, template := range sensitiveMembers {
				var member any
				_ = json.Unmarshal([]byte(p.fill(template, place+"."+key)), &member)
				value[key] = member
			}
		}
		return value
	case []any:
		for i := range value {
			if _, is := value[i].(string); is && i == 0 && len(value) == 2 {
				continue // of a pair: a name
			}
			value[i] = p.plant(value[i], place)
		}
		return value
	case string:
		if p.member {
			return value
		}
		if p.turn++; p.turn%len(secretTexts) == 0 && sourceLine.MatchString(place) {
			p.turn++ // in a line of source code, password=x is a variable
		}
		return value + " " + p.fill(secretTexts[p.turn%len(secretTexts)], place)
	}
	return value
}

// envelope plants secrets in the JSON of every item.
func (p *planter) envelope(body []byte) []byte {
	parsed, err := sentry.ReadEnvelope(body)
	if err != nil {
		return nil
	}
	out := []string{strings.SplitN(string(body), "\n", 2)[0]}
	for _, item := range parsed.Items {
		payload := item.Payload
		var document any
		if json.Unmarshal(payload, &document) == nil && !strings.HasPrefix(string(item.Header.Type), "profile") {
			document = p.plant(document, string(item.Header.Type))
			payload, _ = json.Marshal(document)
		}
		header := map[string]any{"type": item.Header.Type, "length": len(payload)}
		if item.Header.ContentType != "" {
			header["content_type"] = item.Header.ContentType
		}
		if item.Header.Filename != "" {
			header["filename"] = item.Header.Filename + p.fill("?password=%s", "filename")
		}
		if n := item.Header.ItemCount; n.Set {
			header["item_count"] = n.Value
		}
		encoded, _ := json.Marshal(header)
		out = append(out, string(encoded), string(payload))
	}
	return []byte(strings.Join(out, "\n") + "\n")
}

// TestPlantedSecrets: no secret leaves by any signal, metric or log, in any combination of settings.
func TestPlantedSecrets(t *testing.T) {
	total, without := 0, 0
	for _, c := range golden.Cases(t) {
		if !planted.MatchString(c.Name) {
			continue
		}
		for turn := range 1 + len(secretTexts)/2 {
			p := &planter{secrets: map[string]string{}, member: turn == 0, turn: 2 * turn}
			body := p.envelope(envelopeOf(t, c))
			if body == nil || len(p.secrets) == 0 {
				continue
			}
			total += len(p.secrets)
			for leak, place := range leaks(t, p, body, func(cfg *Config) { cfg.IncludePII = turn%2 == 0 }) {
				t.Errorf("%s: a secret at %s leaves:\n%s", c.Name, place, leak)
			}
			if turn < 2 {
				without += len(leaks(t, p, body, func(cfg *Config) { cfg.IncludePII, cfg.Scrubbing = true, scrub.Config{} }))
			}
		}
	}
	t.Logf("%d secrets planted; of those of two rounds, %d leave without scrubbing", total, without)
	assert.Greater(t, without, 1000, "the secrets are in places that are translated")
}

// leaks returns the lines of the output that contain a secret, and where it was planted.
func leaks(t *testing.T, p *planter, body []byte, edit func(*Config)) map[string]string {
	s := startSignals(t, edit)
	s.do(caseRequest(s.harness, body))
	var lines []string
	for _, texts := range s.dumps(golden.Receipt{From: time.Now(), To: time.Now()}) {
		for _, text := range texts {
			lines = append(lines, strings.Split(text, "\n")...)
		}
	}
	lines = append(lines, s.reports()...)
	found := map[string]string{}
	for _, line := range lines {
		for _, secret := range secretPattern.FindAllString(line, -1) {
			found[secret+" in "+line] = p.secrets[secret]
		}
	}
	return found
}

var sourceLine = regexp.MustCompile(`\.(pre_context|post_context|context_line)$`)

var secretPattern = regexp.MustCompile(`hush\d{6}hush`)

// reports returns what the receiver logged and counted.
func (s *signals) reports() (lines []string) {
	for _, entry := range s.harness.logs.All() {
		lines = append(lines, fmt.Sprint(entry.Message, entry.ContextMap()))
	}
	for _, name := range []string{"otelcol_receiver_sentry_items", "otelcol_receiver_sentry_values_scrubbed", "otelcol_receiver_sentry_fields_discarded"} {
		lines = append(lines, fmt.Sprint(s.counts(name)))
	}
	return lines
}

// TestScrubbingSettings: off, and a map with some of the keys.
func TestScrubbingSettings(t *testing.T) {
	body := envelope(item("log", `,"item_count":1`, `{"items":[{"timestamp":1777629600.0,"level":"info","body":"password=x 4111111111111111","attributes":{"author":{"value":"me","type":"string"}}}]}`))
	for name, test := range map[string]struct {
		scrubbing scrub.Config
		want      []string
	}{
		"default":     {scrub.DefaultConfig(), []string{`body = "password=[Filtered] [creditcard]"`, `author = "[Filtered]"`}},
		"safe fields": {scrub.Config{Data: true, Defaults: true, SafeFields: []string{"author"}}, []string{`body = "password=[Filtered] [creditcard]"`, `author = "me"`}},
		"off":         {scrub.Config{}, []string{`body = "password=x 4111111111111111"`, `author = "me"`}},
	} {
		got := receive(t, []byte(body), profile.Lenient, func(cfg *Config) { cfg.Scrubbing = test.scrubbing })
		require.Len(t, got.dumps[golden.Logs], 1, name)
		for _, want := range test.want {
			assert.Contains(t, got.dumps[golden.Logs][0], want, name)
		}
	}
}
