// SPDX-License-Identifier: Apache-2.0

package scrub

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Patterns of values. They match what Relay's rules match, with one difference: a letter outside
// ASCII ends a word here (RE2's \b), so a card number inside Chinese text is found.
//
// A trigger that is 0 runs the pattern on every text: for rules that only advanced settings apply.
type pattern struct {
	needs   triggers // all of them
	regexp  *regexp.Regexp
	find    func(string) [][]int // instead of regexp
	groups  []int                // to replace; 0 = the match
	literal byte                 // a byte that the text must contain; 0 = none

	notFraction bool // digits behind a decimal point do not match
	configured  bool // it comes from the settings, not from the list below
}

// maxMatches bounds the matches of a configured pattern in a text. RE2 finds one match in linear
// time, but may read the rest of the text for each: all matches of x*y|x in a megabyte of x would
// take hours.
const maxMatches = 100

const (
	blank = `[\s\v\x{85}\p{Z}]` // Relay's \s includes blanks of all scripts
	digit = `\p{Nd}`
	octet = `(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)`
	ipv4  = octet + `\.` + octet + `\.` + octet + `\.` + octet
)

// ibanCountries are the countries of the registry that Relay knows.
const ibanCountries = `A[DELOTZ]|B[AEFGHIJRY]|C[FGHIMRVYZ]|D[EJKOZ]|E[EGS]|F[IOR]|G[ABEILQRTW]|H[NRU]|I[ELQRST]|JO|K[MWZ]|` +
	`L[BCITUVY]|M[ACDEGKLRTUZ]|N[EILO]|P[KLST]|QA|R[OSU]|S[ACEIKMNTV]|T[DGLNR]|UA|V[AG]|XK`

var (
	bearerPattern = pattern{needs: hasBearer, regexp: regexp.MustCompile(`(?i)\bbearer` + blank + `+[^\s\v\x{85}\p{Z}]+`), groups: []int{0}}

	cardPattern = pattern{needs: hasCard, groups: []int{0}, notFraction: true, regexp: regexp.MustCompile(
		`\b(?:3[47]` + digit + `|4` + digit + `{3}|5[1-5]` + digit + `{2}|65` + digit + `{2}|6011)(?:(?:-|` + blank + `)?` + digit + `){12}\b`)}

	ibanPattern = pattern{needs: hasIBAN, groups: []int{0}, regexp: regexp.MustCompile(
		`\b(?:` + ibanCountries + `)` + digit + `{2}[a-zA-Z0-9]{11,29}\b`)}

	ssnPattern = pattern{needs: hasSSN, groups: []int{0}, regexp: regexp.MustCompile(`\b[0-9]{3}-[0-9]{2}-[0-9]{4}\b`)}

	pemPattern = pattern{needs: hasPEM, groups: []int{1}, regexp: regexp.MustCompile(
		`(?s)-----BEGIN[A-Z ]+(?:PRIVATE|PUBLIC) KEY-----[\t ]*\r?\n?(.+?)\r?\n?-----END[A-Z ]+(?:PRIVATE|PUBLIC) KEY-----`)}

	// @urlauth:legacy uses urlPasswordPattern. The other rules use urlAuthPattern and also replace
	// the user.
	urlPasswordPattern = pattern{needs: hasAt, groups: []int{1}, literal: '/',
		regexp: regexp.MustCompile(`\b(?:[a-z0-9]+:)?//[a-zA-Z0-9%_.-]+:([a-zA-Z0-9%_.-]+)@`)}
	urlAuthPattern = pattern{needs: hasAt, groups: []int{1}, literal: '/',
		regexp: regexp.MustCompile(`\b(?:[a-z0-9+-]+:)?//([a-zA-Z0-9%_.-]+(?::[a-zA-Z0-9%_.-]+)?)@`)}

	emailPattern = pattern{needs: hasAt, groups: []int{0}, regexp: regexp.MustCompile(
		"\\b[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9-]+(?:\\.[a-zA-Z0-9-]+)*\\.[a-zA-Z]{2,}\\b")}

	ipv4Pattern = pattern{needs: hasIPv4, groups: []int{0}, regexp: regexp.MustCompile(`\b` + ipv4 + `\b`)}

	ipv6Pattern = pattern{needs: hasIPv6, find: findIPv6, groups: []int{1}}

	macPattern  = pattern{groups: []int{0}, regexp: regexp.MustCompile(`\b(?:[[:xdigit:]]{2}[:-]){5}[[:xdigit:]]{2}\b`)}
	uuidPattern = pattern{groups: []int{0}, regexp: regexp.MustCompile(`(?i)\b[a-z0-9]{8}-?[a-z0-9]{4}-?[a-z0-9]{4}-?[a-z0-9]{4}-?[a-z0-9]{12}\b`)}
	imeiPattern = pattern{groups: []int{0}, regexp: regexp.MustCompile(`\b` + digit + `{2}-?` + digit + `{6}-?` + digit + `{6}-?` + digit + `{1,2}\b`)}

	userPathPattern = pattern{groups: []int{1}, regexp: regexp.MustCompile(
		`(?i)(?:\b(?:[a-zA-Z]:[\\/])?(?:users|home|documents and settings|[^/\\]+[/\\]profiles)[\\/]|/(?:home|users)/)([^/\\\r\n\x00]+)`)}

	// cookiesPattern finds session cookies in the text of a header.
	cookiesPattern = pattern{groups: []int{1}, regexp: regexp.MustCompile(`(?i)\b(?:` +
		strings.Join(slices.Sorted(maps.Keys(sessionCookies)), "|") + `)=([^;]*)`)}

	anythingPattern = pattern{groups: []int{0}, regexp: regexp.MustCompile(`.*`)}
)

// all returns the positions of all matches and of their groups. ok is false if a configured pattern
// has too many.
func (p *pattern) all(text string) (matches [][]int, ok bool) {
	if p.find != nil {
		return p.find(text), true
	}
	if !p.configured {
		return p.regexp.FindAllStringSubmatchIndex(text, -1), true
	}
	matches = p.regexp.FindAllStringSubmatchIndex(text, maxMatches+1)
	return matches, len(matches) <= maxMatches
}

// excludes reports whether a match at a position does not count.
func (p *pattern) excludes(text string, at int) bool {
	return p.notFraction && at >= 2 && text[at-1] == '.' && text[at-2] >= '0' && text[at-2] <= '9'
}

// possible reports whether the pattern may match.
func (p *pattern) possible(found triggers, text string) bool {
	return found&p.needs == p.needs && (p.literal == 0 || strings.IndexByte(text, p.literal) >= 0)
}

// passwordRegexp checks texts with letters that only (?i) folds.
var passwordRegexp = regexp.MustCompile(
	`(?i)password|secret|passwd|api[-_]key|apikey|auth|credentials|mysql_pwd|privatekey|private[-_]key|token[^\s\v\x{85}\p{Z}]*[:=]|^otp$|^two[-_]factor$`)

var tokenRegexp = regexp.MustCompile(`(?i)token`)

// sensitiveKey reports whether the value under a key is sensitive: the password rule for keys.
func sensitiveKey(key string) bool {
	found := scan(key)
	if found&hasFold != 0 && (tokenRegexp.MatchString(key) || passwordRegexp.MatchString(key)) {
		return true
	}
	return found&hasWord != 0 || sensitiveWord(key)
}

// sensitiveText reports whether a text is sensitive as a whole: the password rule for values. found
// are its triggers.
func sensitiveText(text string, found triggers) bool {
	switch {
	case found&hasFold != 0:
		return passwordRegexp.MatchString(text)
	case found&hasWord == 0:
		return sensitiveWord(text)
	}
	state, until := uint8(0), 0
	for i := range len(text) {
		state = automaton.next[state][text[i]]
		if automaton.found[state]&hasWord == 0 {
			continue
		}
		if !strings.EqualFold(text[max(0, i+1-len(tokenWord)):i+1], tokenWord) {
			return true
		}
		// A token is sensitive if a colon or an equals sign follows before the next space. until
		// bounds the search in one long word.
		if i < until {
			continue
		}
		rest := text[i+1:]
		end := strings.IndexFunc(rest, unicode.IsSpace)
		if end < 0 {
			end = len(rest)
		}
		if strings.ContainsAny(rest[:end], ":=") {
			return true
		}
		until = i + 1 + end
	}
	return false
}

// sensitiveWord reports whether a text is one of the words that are sensitive only by themselves.
func sensitiveWord(text string) bool {
	switch len(text) {
	case len("otp"):
		return strings.EqualFold(text, "otp")
	case len("two-factor"):
		return strings.EqualFold(text, "two-factor") || strings.EqualFold(text, "two_factor")
	}
	return false
}
