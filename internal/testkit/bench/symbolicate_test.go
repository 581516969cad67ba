// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/pprofile/pprofileotlp"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

const symbolicateConfig = `
receivers:
  otlp/plain: {protocols: {http: {endpoint: '%s'}}}
  otlp/named: {protocols: {http: {endpoint: '%s'}}}
exporters:
  nop:
processors:
  symbolicate: {store: {directory: '%s', scan_interval: 1s}}
service:
  telemetry: {metrics: {level: none}, logs: {level: info}}
  pipelines:
    profiles/plain: {receivers: [otlp/plain], exporters: [nop]}
    profiles/named: {receivers: [otlp/named], processors: [symbolicate], exporters: [nop]}
`

// BenchmarkSymbolicate measures the CPU time of the built collector for each frame of a profile of
// Node that it symbolicates, with an open source map of a bundle of one line: the difference
// between a pipeline with the processor and one without. Bundles of different sizes show whether it
// depends on the size.
func BenchmarkSymbolicate(b *testing.B) {
	directory := b.TempDir()
	bundles := []int{240 << 10, 24 << 20} // bytes
	if !testsize.Full() {
		bundles[1] = 1 << 20
	}
	var messages []request
	for _, size := range bundles {
		columns := writeBundle(directory, size)
		message, err := pprofileotlp.NewExportRequestFromProfiles(nodeProfile(bundleName(size), columns)).MarshalProto()
		must(err)
		messages = append(messages, request{contentType: "application/x-protobuf", body: payload.Zip(message)})
	}
	c, err := startCollector(2, func(listen []string) string {
		return fmt.Sprintf(symbolicateConfig, listen[0], listen[1], directory)
	})
	if err != nil {
		b.Skip(err)
	}
	defer c.stop()
	var requests []request
	for _, message := range messages {
		for _, address := range c.listen {
			message.url = "http://" + address + profilesPath
			requests = append(requests, message)
		}
	}
	onEach(b, nil, nil) // prints the load
	for range 2 {       // the first one asks for the files
		for _, r := range requests {
			_, err = c.send(r, 2)
			must(err)
		}
		if testsize.Full() {
			time.Sleep(openingTime)
		}
	}
	b.Run("node", func(b *testing.B) {
		const times = 40
		took, err := c.race(b, times, requests...)
		must(err)
		frames := float64(times * b.N * symbolicatedFrames)
		perFrame := func(i int) float64 {
			return max(float64((took[i+1]-took[i]).Nanoseconds())/1000/frames, 0.01)
		}
		report(b, "µs÷frame", perFrame(2), 1)
		report(b, "large÷small", perFrame(2), perFrame(0))
	})
}

// openingTime is enough to open the larger map.
const openingTime = 10 * time.Second

func bundleName(size int) string { return fmt.Sprintf("bundle-%d.js", size) }

// writeBundle writes a bundle of one line with its source map, like those of esbuild, and returns
// the columns of its functions, from 1.
func writeBundle(directory string, size int) (columns []int64) {
	var script, mappings strings.Builder
	var names []string
	end := 0 // of the mappings
	for script.Len() < size {
		i := len(columns)
		script.WriteString("function ")
		// A name and the calls of a function, on three lines.
		mappings.WriteString(vlq(script.Len()-end) + "ACA" + []string{"A", "C"}[min(i, 1)] + ",GAAG,EAAE,IAAI,IACF,EAAE,IAAI,EACP,OAAO,EAAE,IAAI,EAAE,GAAG,EAAE,IAAI,")
		end = script.Len() + 45
		fmt.Fprintf(&script, "f%d(", i)
		columns = append(columns, int64(script.Len()))
		fmt.Fprintf(&script, "a,b){let c=a.get(b);return c&&c.length?c[0]:g%d(b,\"%08d\")}", i%97, i)
		names = append(names, fmt.Sprintf(`"originalFunction%d"`, i))
	}
	file := filepath.Join(directory, bundleName(size))
	must(os.WriteFile(file, []byte(script.String()+"\n//# sourceMappingURL="+filepath.Base(file)+".map\n"), 0o600))
	must(os.WriteFile(file+".map", []byte(`{"version":3,"sources":["src/app.ts"],"names":[`+strings.Join(names, ",")+`],"mappings":"`+strings.TrimSuffix(mappings.String(), ",")+`"}`), 0o600))
	return columns
}

// vlq encodes a positive number as in source maps.
func vlq(n int) (text string) {
	for n *= 2; n >= 32; n /= 32 {
		text += string(base64Digits[n%32+32])
	}
	return text + string(base64Digits[n])
}

const base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// symbolicatedFrames is the number of frames of a minute of a busy Node program.
const symbolicatedFrames = 5000

// nodeProfile returns a profile with frames of functions all over a bundle.
func nodeProfile(file string, columns []int64) pprofile.Profiles {
	p := pprofile.NewProfiles()
	d := dictionary.NewBuilder(p.Dictionary())
	defer d.Release()
	resource := p.ResourceProfiles().AppendEmpty()
	resource.Resource().Attributes().PutStr("telemetry.sdk.language", "nodejs")
	profile := resource.ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	dictionary.SetValueType(profile.SampleType(), d.String("samples"), d.String("count"))
	v8 := d.AttrString("profile.frame.type", "v8js")
	var stack []dictionary.LocationIndex
	for i := range symbolicatedFrames {
		function := i * len(columns) / symbolicatedFrames
		stack = append(stack, d.Location(dictionary.Location{
			Lines: []dictionary.Line{{
				Function: d.Function(dictionary.Function{Name: d.String(fmt.Sprintf("f%d", function)), Filename: d.String("/app/" + file)}),
				Line:     int64(1 + i%50), Column: columns[function],
			}},
			Attributes: []dictionary.AttributeIndex{v8},
		}))
		if len(stack) == 50 {
			sample := profile.Samples().AppendEmpty()
			sample.SetStackIndex(int32(d.Stack(stack)))
			sample.TimestampsUnixNano().Append(uint64(1_777_629_600_000_000_000 + i*10_000_000))
			stack = stack[:0]
		}
	}
	d.Finish()
	return p
}
