// SPDX-License-Identifier: Apache-2.0

package scrub

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// nearMisses returns texts that almost match rules, or match them as often as possible: the
// beginnings of all generated pieces, each repeated, with different separators.
func nearMisses() (units []string) {
	units = slices.Clone(repeated)
	seen := map[string]bool{}
	for _, piece := range append(slices.Clone(repeated), pieces...) {
		piece = strings.NewReplacer("d", "1", "h", "a", "l", "z").Replace(piece)
		for end := 1; end <= len(piece); end++ {
			for _, separator := range []string{"", " ", ":", "-", ".", "/", "@", "=", "\"", "1", "a"} {
				if unit := piece[:end] + separator; !seen[unit] {
					seen[unit] = true
					units = append(units, unit)
				}
			}
		}
	}
	return units
}

// repeated are further texts that are expensive for expressions and for the search for assignments.
var repeated = []string{
	`"token":{`, `password='`, `secret=\"`, `auth","`, `"name":"token","value":"`, `Cookie: a=`, "1:1:1:1:1:1:1:1", "1::2.3.4.255", "::ffff:0:1.2.3.",
	"-----BEGIN A PRIVATE KEY-----", "-----BEGIN A PRIVATE KEY-----\nx\n-----END ", "a@a-", "bearer  ", "bearer\u00a0", "//a:b", "x://a:b@", "DE12ABCDEFGHIJK",
	"4111-1111 1111\u00a0111", "1.1.1.", "25525525", "111-11-111", "\u212a", "\u017fecret", "\x00", "token\x00=", "[Filtered]", "token=[Filtered]",
	"Cookie:1", "::", "a::b", "token", "auth=", `token="[Filtered]`, "token={", "token=[", "1-", "a@a.", "12:34:56:78:9a:bc-", "session=", "users\\", "/home/", "a%3Dtoken&b=", "%61uth=a&", "x=auth\"&",
	"auth=", "4111 ", "-----BEGIN A KEY", "DE12", "bearer ",
	"auth = f(", "auth = (select ", "{auth:x", "select a from b where auth = ", "update auth set auth = x", "auth: ", "auth::", "Caused by: auth: ", "a.auth: ", "auth:a:", "AuthAA: ", "`auth='",
}

// costs are the parts of the default scrubbing.
func costs(s *Scrubber) map[string]func(string) {
	all := map[string]func(string){}
	for name, set := range map[string]*ruleset{"full": &s.full, "text": &s.text, "url": &s.url, "query": &s.query, "message": &s.message, "location": &s.location, "code": &s.code} {
		all["policy "+name] = func(text string) { s.walk("span").plain(text, set, "a") }
	}
	for kind, patterns := range typePatterns {
		for i, p := range patterns {
			all[fmt.Sprint("pattern ", kind, i)] = func(text string) {
				text = strings.ReplaceAll(text, nul, "")
				if p.possible(scan(text), text) {
					(&redacted{text: text}).replace(p, replaceBy(Filtered))
				}
			}
		}
	}
	return all
}

var allTexts = flag.Bool("all-texts", false, "use all texts in TestCostOfNearMisses and BenchmarkNearMisses")

// sampledNearMisses returns the near misses, or a sample of them that is always the same.
func sampledNearMisses() []string {
	units := nearMisses()
	random := rand.New(rand.NewPCG(5, 5))
	for len(units) > 200 && !*allTexts {
		i := len(repeated) + random.IntN(len(units)-len(repeated))
		units = slices.Delete(units, i, i+1)
	}
	return units
}

// slowest returns the texts that need the longest per byte if they are repeated up to a size.
func slowest(rule func(text string), units []string, size, count int) []string {
	times := map[string]time.Duration{}
	for _, unit := range units {
		begin := time.Now()
		rule(strings.Repeat(unit, size/len(unit)))
		times[unit] = time.Since(begin)
	}
	return slices.SortedFunc(maps.Keys(times), func(a, b string) int { return cmp.Compare(times[b], times[a]) })[:count]
}

// TestCostOfNearMisses: no text takes quadratic time. Neither regular expressions nor the automaton
// count their steps, so this is the one test with a limit of time. The slowest of the texts needs a
// thirtieth of it on an idle machine; an algorithm that searches the rest of the text for each
// match would need several times as long. BenchmarkNearMisses compares the times of linear texts.
func TestCostOfNearMisses(t *testing.T) {
	testsize.NeedFull(t)
	t.Parallel()
	const (
		small, large = 8 << 10, 1 << 20
		most         = 30 * time.Second
	)
	units := sampledNearMisses()
	for name, rule := range costs(newDefault(t)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, unit := range slowest(rule, units, small, 2) {
				begin := time.Now()
				rule(strings.Repeat(unit, large/len(unit)))
				took := time.Since(begin)
				t.Logf("%s for %q", took, unit)
				assert.Less(t, took, most, "repetitions of %q", unit)
			}
		})
	}
}

// BenchmarkNearMisses measures an ordinary text, and the slowest near miss of each rule.
func BenchmarkNearMisses(b *testing.B) {
	const small, large = 2 << 10, 64 << 10
	units := sampledNearMisses()
	for name, rule := range costs(newDefault(b)) {
		ordinary := "The customer 1.2.3.4 paid with 4111 1111 1111 1111 at 12:30:00, see https://example.com/a?b=c and mail a@example.com. "
		for kind, unit := range map[string]string{"ordinary": ordinary, "slowest": slowest(rule, units, small, 1)[0]} {
			text := strings.Repeat(unit, large/len(unit))
			b.Run(name+"/"+kind, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					rule(text)
				}
			})
		}
	}
}
