// SPDX-License-Identifier: Apache-2.0

package symbolicate

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// TestOneLongTextOfMany: a text is read once, however many frames refer to it by its index: twice
// as many frames do not allocate copies of it.
func TestOneLongTextOfMany(t *testing.T) {
	const size = 1 << 20
	n := 100
	if testsize.Full() {
		n = 500
	}
	long := strings.Repeat("x", size)
	for name, frame := range map[string]func(b *dictionary.Builder, i int) dictionary.Location{
		"address": func(b *dictionary.Builder, i int) dictionary.Location {
			return dictionary.Location{Address: uint64(i + 1), Mapping: b.Mapping(dictionary.Mapping{Start: 1, Limit: 1 << 40, Attributes: []dictionary.AttributeIndex{b.AttrString("process.executable.build_id.gnu", "ab")}}),
				Lines: []dictionary.Line{{Function: b.Function(dictionary.Function{Name: b.String("0x" + strings.Repeat("0", size))})}}}
		},
		"build ID": func(b *dictionary.Builder, i int) dictionary.Location {
			id := b.AttrString("process.executable.build_id.gnu", long)
			return dictionary.Location{Address: uint64(i<<20 + 1), Mapping: b.Mapping(dictionary.Mapping{Start: uint64(i << 20), Limit: uint64(i+1) << 20, Attributes: []dictionary.AttributeIndex{id}})}
		},
		"script": func(b *dictionary.Builder, i int) dictionary.Location {
			function := b.Function(dictionary.Function{Name: b.String(long), Filename: b.String(url)})
			return dictionary.Location{Lines: []dictionary.Line{{Function: function, Line: 1, Column: int64(20 + i)}}, Attributes: []dictionary.AttributeIndex{b.AttrString("profile.frame.type", "v8js")}}
		},
		"URL": func(b *dictionary.Builder, i int) dictionary.Location {
			function := b.Function(dictionary.Function{Name: b.String("f"), Filename: b.String(long)})
			return dictionary.Location{Lines: []dictionary.Line{{Function: function, Line: 1, Column: int64(20 + i)}}, Attributes: []dictionary.AttributeIndex{b.AttrString("profile.frame.type", "v8js")}}
		},
		"method": func(b *dictionary.Builder, i int) dictionary.Location {
			function := b.Function(dictionary.Function{Name: b.String(long)})
			return dictionary.Location{Lines: []dictionary.Line{{Function: function, Line: int64(i + 1)}}, Attributes: []dictionary.AttributeIndex{
				b.AttrString("profile.frame.type", "jvm"), b.AttrString("sentry.frame.module", "a.a"), b.AttrString("sentry.frame.signature", "("+strings.Repeat("I", size)+")V"),
			}}
		},
	} {
		var allocated [2]uint64
		for i := range allocated {
			p := pprofile.NewProfiles()
			b := dictionary.NewBuilder(p.Dictionary())
			resource := p.ResourceProfiles().AppendEmpty()
			resource.Resource().Attributes().PutStr("app.debug.proguard_uuid", buildID)
			resource.Resource().Attributes().PutStr("service.version", long)
			scope := resource.ScopeProfiles().AppendEmpty()
			for j := range n << i {
				sample := scope.Profiles().AppendEmpty().Samples().AppendEmpty()
				sample.SetStackIndex(int32(b.Stack([]dictionary.LocationIndex{b.Location(frame(b, j))})))
			}
			b.Finish()
			b.Release()
			var asked []ScriptID
			files := opened{shop: shop{t, &asked}}
			files.script, _ = files.shop.Script(ScriptID{DebugID: debugID})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			Profiles(p, files)()
			runtime.ReadMemStats(&after)
			allocated[i] = after.TotalAlloc - before.TotalAlloc
		}
		assert.Less(t, int64(allocated[1])-int64(allocated[0]), int64(n*8<<10+size), name)
	}
}
