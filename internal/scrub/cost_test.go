// SPDX-License-Identifier: Apache-2.0

package scrub

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
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
}

// fastest returns the shortest time per byte of a few runs.
func fastest(runs int, rule func(text string), text string) float64 {
	best := time.Duration(math.MaxInt64)
	for range runs {
		begin := time.Now()
		rule(text)
		best = min(best, time.Since(begin))
	}
	return float64(best.Nanoseconds()) / float64(len(text))
}

// costs are the parts of the default scrubbing.
func costs(s *Scrubber) map[string]func(string) {
	all := map[string]func(string){}
	for name, set := range map[string]*ruleset{"full": &s.full, "text": &s.text, "url": &s.url, "message": &s.message, "location": &s.location, "code": &s.code} {
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

var allTexts = flag.Bool("all-texts", false, "measure all texts in TestCostOfNearMisses")

// TestCostOfNearMisses: no text takes much longer per byte than an ordinary one, whatever its size.
// All are measured in one run.
func TestCostOfNearMisses(t *testing.T) {
	const (
		small, large = 2 << 10, 64 << 10
		most         = 30 // times an ordinary text
	)
	s := newDefault(t)
	ordinary := strings.Repeat("The customer 1.2.3.4 paid with 4111 1111 1111 1111 at 12:30:00, see https://example.com/a?b=c and mail a@example.com. ", large/118)
	units := nearMisses()
	random := rand.New(rand.NewPCG(5, 5))
	for len(units) > 200 && !*allTexts {
		i := len(repeated) + random.IntN(len(units)-len(repeated))
		units = slices.Delete(units, i, i+1)
	}
	for name, rule := range costs(s) {
		type cost struct {
			unit string
			ns   float64
		}
		var all []cost
		for _, unit := range units {
			all = append(all, cost{unit, fastest(1, rule, strings.Repeat(unit, small/len(unit)+1))})
		}
		slices.SortFunc(all, func(a, b cost) int { return cmp.Compare(b.ns, a.ns) })
		worst := cost{}
		for _, c := range all[:10] {
			if ns := fastest(2, rule, strings.Repeat(c.unit, large/len(c.unit))); ns > worst.ns {
				worst = cost{c.unit, ns}
			}
		}
		base := fastest(2, costs(s)["policy full"], ordinary)
		t.Logf("%-20s %6.0f ns/byte (an ordinary text: %.0f) for %q", name, worst.ns, base, worst.unit)
		assert.Less(t, worst.ns, most*base, "%s: repetitions of %q", name, worst.unit)
	}
}
