// SPDX-License-Identifier: Apache-2.0

// Package planted is test support: it plants secrets in recorded requests, as members of every JSON
// object and behind every text that is not the name of something. Each secret is unique, so that a
// leak states its place.
package planted

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// sensitiveMembers are members that Sentry's default rules remove; %s is the secret.
var sensitiveMembers = map[string]string{
	"password": `"%s"`, "api_key": `"%s"`, "access_token": `"%s"`, "private_key": `"%s"`, "X-Auth-Token": `"%s"`,
	"credentials":    `{"nested": ["%s"]}`,
	"plantedHeaders": `[["Cookie", "sid=%s"], ["X-Auth-Token", "%s"], ["Authorization", "%s"]]`,
	"plantedPairs":   `[{"name": "Cookie", "value": "%s"}, {"key": "api_key", "value": "%s"}]`,
	"plantedRaw":     `["X-Api-Key", "%s", "Cookie", "%s"]`,
	"plantedJSON":    `"{\"password\": \"%s\", \"a\": [{\"name\": \"token\", \"value\": \"%s\"}]}"`,
	"plantedURL":     `"postgres://u:%s@db/x?password=%s"`,
	"plantedNumbers": `["%card", "iban: %iban", "ssn %ssn."]`,
	"clientSecret":   `{"a": {"b": "%s"}}`, "MYSQL_PWD": `"%s"`, "two_factor": `"%s"`, "http.request.header.set-cookie": `["session=%s; Path=/"]`,
	"plantedForm": `"user=jane&passwd=%s&otp=1&apiKey=%s"`, "plantedHeader": `"Authorization: Bearer %s"`,
}

// texts are texts of each class of secrets.
var texts = []string{
	"password=%s", `{"api_key": "%s"}`, "postgres://u:%s@db/x", "Bearer %s", "-----BEGIN PRIVATE KEY-----\n%s\n-----END PRIVATE KEY-----",
	"Authorization: Basic %s", `[["X-Auth-Token", "%s"]]`, "https://h/?access_token=%s", "card %card, IBAN %iban", "SSN %ssn",
	`{"clientSecret":{"value":"%s"}}`, "MYSQL_PWD=%s", "secret: '%s'", `credentials: "%s"`,
}

// code are texts that are variables in a line of source code, where only literals are secrets.
var code = map[string]bool{"password=%s": true, "MYSQL_PWD=%s": true, `{"clientSecret":{"value":"%s"}}`: true}

// Classes is the number of classes of texts.
var Classes = len(texts)

// names are members whose text identifies something: Sentry's default rules leave them, and a
// secret behind them would make the item unusable.
var names = regexp.MustCompile(`(?i)(^|_)(ids?|uuid|time|timestamp|started|version|type|level|status|platform|release|dist|environment|checksum|unit|arch|addr|` +
	`address|sdk|name_source|source|slug|integrations|trace|sampled|outcome|reason|category|state|method|items|image_vmaddr|sid|did|origin|op|kind|mechanism|` +
	`profiler|clock|build|packages|locale|orientation|timezone|data_category|rule)$|^(code_file|debug_file|module|modules|function|raw_function|symbol|class_name|filename|orig_filename|orig_function|abs_path|package|platform|` +
	`fingerprint|environment|init|dsn|sentry_.*|culprit|transaction|schedule|logger|measurements|_meta|language)$|version|[iI]d$|^(sentry|os|device|app|thread|browser|network|culture|process|code)\.`)

// Planter plants secrets, and remembers their places.
type Planter struct {
	Secrets map[string]string // secret → place
	Member  bool              // plants members, not texts
	Turn    int               // the class of the next text
}

// forms are the forms of secrets by placeholder; the number makes each unique. %ssn is a social
// security number.
var forms = map[string]string{"%s": "hush%06dhush", "%card": "4000%012d", "%iban": "DE89%018d"}

func (p *Planter) secret(form, place string) string {
	n := len(p.Secrets)
	s := fmt.Sprintf("%03d-%02d-%04d", 100+n/1_000_000, n/10_000%100, n%10_000)
	if format, is := forms[form]; is {
		s = fmt.Sprintf(format, n)
	}
	p.Secrets[s] = place
	return s
}

var placeholder = regexp.MustCompile(`%(s|card|iban|ssn)\b`)

// Fill replaces each placeholder of a template by a new secret.
func (p *Planter) Fill(template, place string) string {
	return placeholder.ReplaceAllStringFunc(template, func(form string) string { return p.secret(form, place) })
}

// Plant plants secrets in a JSON document, and returns it.
func (p *Planter) Plant(value any, place string) any {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			name := key
			if key == "value" { // of an attribute
				name = place[strings.LastIndex(place, "attributes.")+1:]
				name = strings.TrimPrefix(name, "ttributes.")
			}
			if text, is := value[key].(string); is && (p.Member || names.MatchString(name) || text == "") || key == "modules" || key == "sdk" ||
				!p.Member && key == "value" && names.MatchString(name) {
				continue
			}
			value[key] = p.Plant(value[key], place+"."+key)
		}
		if p.Member && !strings.HasSuffix(place, "measurements") {
			for key, template := range sensitiveMembers {
				var member any
				_ = json.Unmarshal([]byte(p.Fill(template, place+"."+key)), &member)
				value[key] = member
			}
		}
		return value
	case []any:
		for i := range value {
			if _, is := value[i].(string); is && i == 0 && len(value) == 2 {
				continue // of a pair: a name
			}
			value[i] = p.Plant(value[i], place)
		}
		return value
	case string:
		if p.Member {
			return value
		}
		p.Turn++
		for sourceLine.MatchString(place) && code[texts[p.Turn%Classes]] {
			p.Turn++
		}
		return value + " " + p.Fill(texts[p.Turn%Classes], place)
	}
	return value
}

// sourceLine matches places of lines of source code.
var sourceLine = regexp.MustCompile(`\.(pre_context|post_context|context_line)$`)

var secretPattern = regexp.MustCompile(`hush\d{6}hush|4000\d{12}|DE89\d{18}|1\d\d-\d\d-\d{4}`)

// Leaks returns the lines that contain a secret, with the place where it was planted.
func (p *Planter) Leaks(lines []string) map[string]string {
	found := map[string]string{}
	for _, line := range lines {
		for _, secret := range secretPattern.FindAllString(line, -1) {
			if place, planted := p.Secrets[secret]; planted {
				found[secret+" in "+line] = place
			}
		}
	}
	return found
}
