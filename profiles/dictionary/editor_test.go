// SPDX-License-Identifier: Apache-2.0

package dictionary_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// An editor adds nothing that the message has.
func TestEditorFindsEntries(t *testing.T) {
	for seed := range uint64(100) {
		p := build(randomSamples(rand.New(rand.NewPCG(seed, 5))), nil)
		before := pprofile.NewProfiles()
		p.CopyTo(before)
		v, e := dictionary.NewView(p.Dictionary()), dictionary.NewEditor(p.Dictionary())
		for i, s := range p.Dictionary().StringTable().All() {
			assert.EqualValues(t, i, e.String(s))
		}
		for i := range p.Dictionary().FunctionTable().Len() {
			f, _ := v.Function(dictionary.FunctionIndex(i))
			assert.EqualValues(t, i, e.Function(f))
		}
		for i := range p.Dictionary().AttributeTable().Len() {
			switch a, _ := v.Attribute(dictionary.AttributeIndex(i)); a.Value.Type() {
			case pcommon.ValueTypeStr:
				assert.EqualValues(t, i, e.AttrString(a.Key, a.Value.Str()))
			case pcommon.ValueTypeInt:
				assert.EqualValues(t, i, e.AttrInt(a.Key, a.Value.Int()))
			case pcommon.ValueTypeBool:
				assert.EqualValues(t, i, e.AttrBool(a.Key, a.Value.Bool()))
			}
		}
		assert.Equal(t, before, p)
	}
}

// A new function may take the place of one that is no longer used; one that exists does not.
func TestFunctionIn(t *testing.T) {
	p := build([]wordSample{{times: []uint64{1000}, stack: []wordLocation{{frames: []wordFrame{{function: "a"}, {function: "b"}}}}}}, nil)
	e := dictionary.NewEditor(p.Dictionary())
	a, b := e.Function(dictionary.Function{Name: e.String("a")}), e.Function(dictionary.Function{Name: e.String("b")})
	assert.Equal(t, b, e.FunctionIn(a, dictionary.Function{Name: e.String("b")}))
	assert.Equal(t, a, e.FunctionIn(a, dictionary.Function{Name: e.String("c")}))
	assert.Equal(t, a, e.Function(dictionary.Function{Name: e.String("c")}))
	assert.EqualValues(t, 3, e.Function(dictionary.Function{Name: e.String("a")}), "replaced")
	assert.Zero(t, e.FunctionIn(a, dictionary.Function{}))
}
