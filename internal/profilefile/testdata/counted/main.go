// SPDX-License-Identifier: Apache-2.0

// Command counted measures how the work of reading files grows.
package main

import (
	"bytes"
	"fmt"
	"log"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profilefile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/counted"
)

func main() {
	operations := map[string]counted.Operation{}
	for name, f := range growing {
		operations[name] = func(n int) func() {
			data := []byte(f.file(n))
			if got, err := profilefile.Recognize(data); got != f.format {
				log.Fatal(name, " is ", got, err)
			}
			return func() {
				if _, err := profilefile.Readers[f.format](data, importer.Options{}); err != nil {
					log.Fatal(name, ": ", err)
				}
			}
		}
	}
	counted.Main(2000, operations)
}

// elements returns a list of n elements in JSON.
func elements(n int, element func(i int) string) string {
	var b strings.Builder
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(element(i))
	}
	return b.String() + "]"
}

// format returns texts with the number of the element, or the same text.
func format(text string) func(int) string {
	return func(i int) string {
		if !strings.Contains(text, "%") {
			return text
		}
		return fmt.Sprintf(text, i)
	}
}

// growing are files with n elements of each kind that a format has, in the shapes that are the
// hardest for it: all different, all the same, a deep stack, a fan below one node, unsorted.
var growing = map[string]struct {
	format string
	file   func(n int) string
}{
	"speedscope: different stacks": {profilefile.Speedscope, func(n int) string {
		return speedscopeOf(elements(n, format(`{"name":"f%d"}`)), `{"type":"sampled","unit":"nanoseconds","samples":`+elements(n, format(`[0,%d]`))+`,"weights":`+elements(n, format(`1`))+`}`)
	}},
	"speedscope: one frame": {profilefile.Speedscope, func(n int) string {
		return speedscopeOf(`[{"name":"f"}]`, `{"type":"sampled","unit":"nanoseconds","samples":`+elements(n, format(`[0]`))+`,"weights":`+elements(n, format(`1`))+`}`)
	}},
	"speedscope: one deep stack": {profilefile.Speedscope, func(n int) string {
		return speedscopeOf(elements(n, format(`{"name":"f%d"}`)), `{"type":"sampled","unit":"nanoseconds","samples":[`+elements(n, format(`%d`))+`],"weights":[1]}`)
	}},
	"speedscope: events": {profilefile.Speedscope, func(n int) string {
		return speedscopeOf(`[{"name":"f"},{"name":"g"}]`, fmt.Sprintf(`{"type":"evented","unit":"nanoseconds","startValue":0,"endValue":%d,"events":[`, 2*n)+
			strings.Trim(elements(n, func(i int) string {
				return fmt.Sprintf(`{"type":"O","frame":%[1]d,"at":%[2]d},{"type":"C","frame":%[1]d,"at":%[2]d}`, i%2, 2*i)
			}), "[]")+`]}`)
	}},
	"speedscope: nested events": {profilefile.Speedscope, func(n int) string {
		n /= 8 // each event is a sample of all frames that are open
		return speedscopeOf(`[{"name":"f"}]`, fmt.Sprintf(`{"type":"evented","unit":"nanoseconds","startValue":0,"endValue":%d,"events":[`, 2*n)+
			strings.Trim(elements(n, func(i int) string { return fmt.Sprintf(`{"type":"O","frame":0,"at":%d}`, i/100) }), "[]")+`,`+
			strings.Trim(elements(n, func(i int) string { return fmt.Sprintf(`{"type":"C","frame":0,"at":%d}`, n+i/100) }), "[]")+`]}`)
	}},
	"speedscope: profiles": {profilefile.Speedscope, func(n int) string {
		return speedscopeOf(`[{"name":"f"}]`, strings.Trim(elements(n, format(`{"type":"sampled","name":"%d","unit":"none","samples":[[0]],"weights":[1]}`)), "[]"))
	}},
	"cpuprofile: a fan": {profilefile.CPUProfile, func(n int) string {
		return `{"nodes":[{"id":1,"callFrame":{"functionName":"root"},"children":` + elements(n, func(i int) string { return fmt.Sprint(i + 2) }) + `},` +
			strings.Trim(elements(n, func(i int) string { return fmt.Sprintf(`{"id":%d,"callFrame":{"functionName":"f%[1]d"}}`, i+2) }), "[]") +
			`],"startTime":0,"endTime":1000000,"samples":` + elements(n, func(i int) string { return fmt.Sprint(i + 2) }) + `,"timeDeltas":` + elements(n, format(`1`)) + `}`
	}},
	"cpuprofile: a chain": {profilefile.CPUProfile, func(n int) string {
		return `{"nodes":` + elements(n, func(i int) string {
			if i == n-1 {
				return fmt.Sprintf(`{"id":%d,"callFrame":{"functionName":"f%[1]d"}}`, i+1)
			}
			return fmt.Sprintf(`{"id":%d,"callFrame":{"functionName":"f%[1]d"},"children":[%d]}`, i+1, i+2)
		}) + `,"startTime":0,"endTime":1000000,"samples":` + elements(n, func(i int) string { return fmt.Sprint(i + 1) }) + `,"timeDeltas":` + elements(n, format(`1`)) + `}`
	}},
	"speedscope: a chain of events": {profilefile.Speedscope, func(n int) string {
		return speedscopeOf(`[{"name":"f"}]`, fmt.Sprintf(`{"type":"evented","unit":"nanoseconds","startValue":0,"endValue":%d,"events":[`, 2*n)+
			strings.Trim(elements(n, func(i int) string { return fmt.Sprintf(`{"type":"O","frame":0,"at":%d}`, i) }), "[]")+`,`+
			strings.Trim(elements(n, func(i int) string { return fmt.Sprintf(`{"type":"C","frame":0,"at":%d}`, n+i) }), "[]")+`]}`)
	}},
	"cpuprofile: cycles": {profilefile.CPUProfile, func(n int) string {
		return `{"nodes":[{"id":0,"callFrame":{"functionName":"f"}},` + strings.Trim(elements(n, func(i int) string { return fmt.Sprintf(`{"id":%d,"parent":%d}`, i+2, i^1+2) }), "[]") +
			`],"startTime":0,"endTime":1000000,"samples":` + elements(n, func(i int) string { return fmt.Sprint(i + 2) }) + `,"timeDeltas":` + elements(n, format(`1`)) + `}`
	}},
	"cpuprofile: samples of one node": {profilefile.CPUProfile, func(n int) string {
		return `{"nodes":[{"id":1,"callFrame":{"functionName":"root"}}],"startTime":0,"endTime":1000000,"samples":` + elements(n, format(`1`)) + `,"timeDeltas":` + elements(n, format(`1`)) + `}`
	}},
	"cpuprofile: backwards in time": {profilefile.CPUProfile, func(n int) string {
		return `{"nodes":[{"id":1,"callFrame":{"functionName":"root"}}],"startTime":9000000,"endTime":10000000,"samples":` + elements(n, format(`1`)) + `,"timeDeltas":` + elements(n, format(`-1`)) + `}`
	}},
	"collapsed: different stacks": {profilefile.Collapsed, func(n int) string { return lines(n, "main;f%d 1") }},
	"collapsed: the same stack":   {profilefile.Collapsed, func(n int) string { return lines(n, "main;f 1") }},
	"collapsed: one deep stack":   {profilefile.Collapsed, func(n int) string { return strings.Repeat("f;", n) + "g 1\n" }},
	"OTLP: spans": {profilefile.OTLPJSON, func(n int) string {
		return `{"resourceSpans":[{"scopeSpans":[{"spans":` + elements(n, format(`{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":"s%d"}`)) + `}]}]}`
	}},
	"OTLP: resources": {profilefile.OTLPJSON, func(n int) string {
		return `{"resourceSpans":` + elements(n, format(`{"resource":{"attributes":[{"key":"a","value":{"intValue":"%d"}}]}}`)) + `}`
	}},
	"OTLP: attributes": {profilefile.OTLPJSON, func(n int) string {
		return `{"resourceSpans":[{"resource":{"attributes":` + elements(n, format(`{"key":"a%d","value":{"stringValue":"v"}}`)) + `}}]}`
	}},
	"OTLP: messages": {profilefile.OTLPJSON, func(n int) string {
		return strings.Repeat(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"x"}}]}]}]}`+"\n", n)
	}},
	"OTLP: messages with profiles": {profilefile.OTLPJSON, func(n int) string { return strings.Repeat(otlpProfile(1), n) }},
	"OTLP: messages without data":  {profilefile.OTLPJSON, func(n int) string { return strings.Repeat(`{"resourceProfiles":[]}`+"\n", n) }},
	"OTLP: a profile":              {profilefile.OTLPJSON, otlpProfile},
	"pprof: types that measure the same": {profilefile.Pprof, func(n int) string {
		var b strings.Builder
		part := func(field protowire.Number, content []byte) {
			b.Write(protowire.AppendBytes(protowire.AppendTag(nil, field, protowire.BytesType), content))
		}
		part(2, append([]byte{2<<3 | 2}, protowire.AppendBytes(nil, bytes.Repeat([]byte{1}, 2*n))...)) // a sample with a value of each type
		part(6, nil)
		for i := range 2 * n { // each name is that of two types
			part(1, protowire.AppendVarint([]byte{1 << 3}, uint64(i/2+1)))
		}
		for i := range n {
			part(6, fmt.Append(nil, "type ", i))
		}
		return b.String()
	}},
}

func speedscopeOf(frames, profiles string) string {
	return `{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":` + frames + `},"profiles":[` + profiles + `]}`
}

func lines(n int, text string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(format(text)(i) + "\n")
	}
	return b.String()
}

// otlpProfile is a message with a profile of n samples with stacks, locations and functions of
// their own.
func otlpProfile(n int) string {
	entries := func(text string) string {
		return strings.Trim(elements(n, func(i int) string { return fmt.Sprintf(text, i+1) }), "[]")
	}
	return `{"resourceProfiles":[{"scopeProfiles":[{"profiles":[{"sampleType":{"typeStrindex":1,"unitStrindex":2},"timeUnixNano":"1","durationNano":"1","samples":[` +
		entries(`{"stackIndex":%d,"values":["1"]}`) + `]}]}]}],"dictionary":{"mappingTable":[{}],"locationTable":[{},` + entries(`{"lines":[{"functionIndex":%d}]}`) +
		`],"functionTable":[{},` + entries(`{"nameStrindex":2,"startLine":"%d"}`) + `],"linkTable":[{}],"stringTable":["","samples","count"],"attributeTable":[{}],"stackTable":[{},` +
		entries(`{"locationIndices":[%d]}`) + `]}}` + "\n"
}
