// SPDX-License-Identifier: Apache-2.0

package dictionary_test

import (
	"fmt"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// A Builder fills the tables of a message. Equal entries are stored once: both samples share the
// frame of main.
func ExampleBuilder() {
	message := pprofile.NewProfiles()
	b := dictionary.NewBuilder(message.Dictionary())
	frame := func(name string, line int64) dictionary.LocationIndex {
		function := b.Function(dictionary.Function{Name: b.String(name), Filename: b.String("shop.go")})
		return b.Location(dictionary.Location{Lines: []dictionary.Line{{Function: function, Line: line}}})
	}

	profile := message.ResourceProfiles().AppendEmpty().ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	dictionary.SetValueType(profile.SampleType(), b.String("samples"), b.String("count"))
	start := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	profile.SetTime(pcommon.NewTimestampFromTime(start))
	profile.SetDurationNano(uint64(20 * time.Millisecond))
	for i, leaf := range []string{"price", "render"} {
		sample := profile.Samples().AppendEmpty()
		sample.SetStackIndex(int32(b.Stack([]dictionary.LocationIndex{frame(leaf, 12), frame("main", 3)}))) // leaf first
		sample.TimestampsUnixNano().Append(uint64(start.UnixNano()) + uint64(i)*uint64(10*time.Millisecond))
		dictionary.SetAttributes(sample.AttributeIndices(), b.AttrInt("thread.id", 1))
	}
	b.Finish()

	fmt.Println("locations, with entry 0:", message.Dictionary().LocationTable().Len())
	fmt.Println("violations:", len(conformance.Check(message)))
	// Output:
	// locations, with entry 0: 4
	// violations: 0
}

// A View reads a message that may be broken: every index is checked, and absent entries are
// reported.
func ExampleView() {
	message := pprofile.NewProfiles()
	b := dictionary.NewBuilder(message.Dictionary())
	function := b.Function(dictionary.Function{Name: b.String("price")})
	stack := b.Stack([]dictionary.LocationIndex{b.Location(dictionary.Location{Lines: []dictionary.Line{{Function: function, Line: 12}}})})
	b.Finish()

	view := dictionary.NewView(message.Dictionary())
	locations, _ := view.Stack(stack, nil)
	var location dictionary.Location
	for _, index := range locations {
		view.Location(index, &location)
		function, _ := view.Function(location.Lines[0].Function)
		fmt.Printf("%s:%d\n", view.Text(function.Name), location.Lines[0].Line)
	}
	_, ok := view.Function(99)
	fmt.Println("function 99:", ok)
	// Output:
	// price:12
	// function 99: false
}

// Compact removes duplicates and unused entries after changes in place. Samples that have become
// equal become one.
func ExampleCompact() {
	message := pprofile.NewProfiles()
	b := dictionary.NewBuilder(message.Dictionary())
	profile := message.ResourceProfiles().AppendEmpty().ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	for i, name := range []string{"handle-1", "handle-2"} {
		function := b.Function(dictionary.Function{Name: b.String(name)})
		location := b.Location(dictionary.Location{Lines: []dictionary.Line{{Function: function}}})
		sample := profile.Samples().AppendEmpty()
		sample.SetStackIndex(int32(b.Stack([]dictionary.LocationIndex{location})))
		sample.Values().Append(int64(i + 1))
	}
	b.Finish()

	editor := dictionary.NewEditor(message.Dictionary())
	for _, index := range []dictionary.FunctionIndex{1, 2} {
		editor.SetFunction(index, dictionary.Function{Name: editor.String("handle")})
	}
	dictionary.Compact(message)
	fmt.Println("functions, with entry 0:", message.Dictionary().FunctionTable().Len())
	fmt.Println("samples:", profile.Samples().Len(), "value:", profile.Samples().At(0).Values().At(0))
	// Output:
	// functions, with entry 0: 2
	// samples: 1 value: 3
}
