// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// namedFrame is a location: the functions of its lines, callee first, and what else it says.
type namedFrame struct {
	functions string // separated by blanks; "" for an address only
	file      string
	module    string
	inApp     *bool
	binary    string
}

func stackProfile(stacks ...[]namedFrame) pprofile.Profiles {
	p := profileOf(wall)
	dictionary.Compact(p)
	profile := firstProfile(p)
	e := dictionary.NewEditor(p.Dictionary())
	for i, frames := range stacks {
		var stack []dictionary.LocationIndex
		for _, f := range frames {
			stack = append(stack, namedLocation(e, p, f))
		}
		s := profile.Samples().AppendEmpty()
		s.SetStackIndex(int32(e.Stack(stack)))
		s.TimestampsUnixNano().Append(uint64(100 + 10*i))
	}
	return p
}

func namedLocation(e *dictionary.Editor, p pprofile.Profiles, f namedFrame) dictionary.LocationIndex {
	l := dictionary.Location{Address: 1}
	for _, function := range strings.Fields(f.functions) {
		l.Address = 0
		l.Lines = append(l.Lines, dictionary.Line{Line: 1, Function: e.Function(dictionary.Function{Name: e.String(function), Filename: e.String(f.file)})})
	}
	if f.binary != "" {
		m := p.Dictionary().MappingTable().AppendEmpty()
		m.SetFilenameStrindex(int32(e.String(f.binary)))
		l.Mapping = dictionary.MappingIndex(p.Dictionary().MappingTable().Len() - 1)
	}
	if f.module != "" {
		l.Attributes = append(l.Attributes, attributeOf(e, semconv.SentryFrameModule, f.module))
	}
	if f.inApp != nil {
		l.Attributes = append(l.Attributes, attributeOf(e, semconv.SentryFrameInApp, *f.inApp))
	}
	return e.Location(l)
}

func TestFrames(t *testing.T) {
	yes, no := true, false
	pattern := regexp.MustCompile
	stack := []namedFrame{
		{functions: "execute", module: "django.db", inApp: &no, file: "/venv/db.py"},
		{functions: "fetch", module: "django.query", file: "/venv/query.py"},
		{functions: "inner outer", module: "shop", inApp: &yes, file: "/app/shop.py"},
		{functions: "", binary: "/usr/lib/libc.so"},
		{functions: "main", module: "shop", inApp: &yes, file: "/app/main.py"},
	}
	for name, c := range map[string]struct {
		action string
		match  []FrameMatch
		want   string
	}{
		"drop a module":             {ActionDrop, []FrameMatch{{Module: pattern(`^django\.`)}}, "inner outer 0x1 main"},
		"drop an inlined call":      {ActionDrop, []FrameMatch{{Function: pattern("^inner$")}}, "execute fetch outer 0x1 main"},
		"drop by binary":            {ActionDrop, []FrameMatch{{Module: pattern("libc")}}, "execute fetch inner outer main"},
		"drop by file or by name":   {ActionDrop, []FrameMatch{{File: pattern("^/venv/")}, {Function: pattern("main")}}, "inner outer 0x1"},
		"drop by both":              {ActionDrop, []FrameMatch{{Module: pattern("shop"), Function: pattern("main")}}, "execute fetch inner outer 0x1"},
		"drop all":                  {ActionDrop, []FrameMatch{{Function: pattern("")}}, "(other)"},
		"keep what is in the app":   {ActionKeep, []FrameMatch{{InApp: &yes}}, "inner outer main"},
		"keep an inlined call":      {ActionKeep, []FrameMatch{{Function: pattern("outer")}}, "outer"},
		"keep nothing":              {ActionKeep, []FrameMatch{{Function: pattern("nobody")}}, "(other)"},
		"not said is not in app":    {ActionDrop, []FrameMatch{{InApp: &no}}, "inner outer main"},
		"collapse libraries":        {ActionCollapse, []FrameMatch{{InApp: &no}}, "(other) inner outer (other) main"},
		"collapse an inlined call":  {ActionCollapse, []FrameMatch{{Function: pattern("outer|^$")}}, "execute fetch inner (other) main"},
		"collapse everything":       {ActionCollapse, []FrameMatch{{Function: pattern("")}}, "(other)"},
		"nothing matches, all stay": {ActionCollapse, []FrameMatch{{Function: pattern("nobody")}}, "execute fetch inner outer 0x1 main"},
	} {
		t.Run(name, func(t *testing.T) {
			step := &Frames{Action: c.action, Match: c.match, Name: DefaultFrameName}
			require.NoError(t, step.Validate())
			p := stackProfile(stack, nil)
			Apply(p, []Step{step})
			samples := firstProfile(p).Samples()
			require.Equal(t, c.want, functionNames(p, samples.At(0)))
			require.Zero(t, samples.At(1).StackIndex(), "idle stays idle")
		})
	}
}

// Samples that differ only in frames that go become one.
func TestFramesMergeSamples(t *testing.T) {
	p := stackProfile([]namedFrame{{functions: "a"}, {functions: "main"}}, []namedFrame{{functions: "b"}, {functions: "main"}})
	Apply(p, []Step{&Frames{Action: ActionKeep, Match: []FrameMatch{{Function: regexp.MustCompile("main")}}, Name: "x"}})
	require.Empty(t, conformance.Check(p))
	require.Equal(t, 1, firstProfile(p).Samples().Len())
	require.Equal(t, []uint64{100, 110}, firstProfile(p).Samples().At(0).TimestampsUnixNano().AsRaw())
}

func functionNames(p pprofile.Profiles, s pprofile.Sample) string {
	v := dictionary.NewView(p.Dictionary())
	stack, _ := v.Stack(dictionary.StackIndex(s.StackIndex()), nil)
	var names []string
	for _, i := range stack {
		var l dictionary.Location
		v.Location(i, &l)
		if len(l.Lines) == 0 {
			names = append(names, "0x1")
		}
		for _, line := range l.Lines {
			f, _ := v.Function(line.Function)
			names = append(names, v.Text(f.Name))
		}
	}
	return strings.Join(names, " ")
}
