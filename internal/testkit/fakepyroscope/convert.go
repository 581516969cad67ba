// SPDX-License-Identifier: Apache-2.0

package fakepyroscope

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	wire "go.opentelemetry.io/proto/otlp/profiles/v1development"
)

// request converts the profiles of one message to pprof, as pkg/ingester/otlp does.
type request struct {
	dictionary *wire.ProfilesDictionary
	now        time.Time
	stored     []Profile
	problems   []Problem
}

const convertGo = "pkg/ingester/otlp/convert.go, "

func (r *request) problem(rule, format string, args ...any) {
	r.problems = append(r.problems, Problem{rule, fmt.Sprintf(format, args...)})
}

func (r *request) text(i int32) string {
	table := r.dictionary.GetStringTable()
	if i < 0 || int(i) >= len(table) {
		r.problem(convertGo+"at", "string %d is out of bounds", i)
		return ""
	}
	return table[i]
}

// converted is a profile of one service as pprof.
type converted struct {
	name, sampleType, sampleUnit, periodType, periodUnit string
	time                                                 int64
	samples                                              []sample
	symbols                                              map[[2]int32]int // bytes of table entries that samples refer to
}

type sample struct {
	labels    map[string]string
	spanID    string
	value     int64
	locations int
}

func (r *request) profile(resource *wire.ResourceProfiles, scope *wire.ScopeProfiles, p *wire.Profile) {
	if p.GetSampleType() == nil {
		r.problem(convertGo+"newProfileBuilder", "sample type is missing")
		return
	}
	byService := map[string]*converted{}
	for _, s := range p.GetSamples() {
		service, ok := r.serviceOf(s)
		if !ok {
			// The handler returns no profile and no error.
			r.problem(convertGo+"ConvertOtelToGoogle", "an attribute does not exist: the profile is lost")
			return
		}
		if byService[service] == nil {
			byService[service] = r.header(p)
		}
		r.sample(byService[service], p, s)
	}
	for _, service := range slices.Sorted(maps.Keys(byService)) {
		labels := map[string]string{}
		r.attributesToLabels(labels, resource.GetResource().GetAttributes())
		r.attributesToLabels(labels, scope.GetScope().GetAttributes())
		name := service
		if name == "" {
			name = serviceName(resource.GetResource().GetAttributes())
		}
		if name == "unknown_service" && r.namesService(resource.GetResource().GetAttributes()) {
			r.problem(convertGo+"serviceNameFromSample", "samples lack service.name: the profile would be one of unknown_service")
		}
		labels["service_name"] = name
		r.ingest(byService[service], labels)
	}
}

// namesService reports whether a resource has a name for its service, in keys that Pyroscope does
// not resolve.
func (r *request) namesService(attributes []*common.KeyValue) bool {
	return slices.ContainsFunc(attributes, func(a *common.KeyValue) bool {
		key := r.text(a.GetKeyStrindex())
		return key == "service.name" || key == "process.executable.name"
	})
}

// header converts the types (newProfileBuilder).
func (r *request) header(p *wire.Profile) *converted {
	c := &converted{
		sampleType: r.text(p.GetSampleType().GetTypeStrindex()), sampleUnit: r.text(p.GetSampleType().GetUnitStrindex()),
		time: int64(p.GetTimeUnixNano()), symbols: map[[2]int32]int{},
	}
	if p.GetPeriodType() != nil && p.GetPeriod() != 0 {
		c.periodType, c.periodUnit = r.text(p.GetPeriodType().GetTypeStrindex()), r.text(p.GetPeriodType().GetUnitStrindex())
	}
	switch c.sampleType + ":" + c.sampleUnit + ":" + c.periodType + ":" + c.periodUnit {
	case "samples:count:cpu:nanoseconds":
		c.name, c.sampleType, c.sampleUnit = "process_cpu", "cpu", "nanoseconds"
	case "off_cpu:nanoseconds::":
		c.name = "off_cpu"
	default:
		c.name = c.periodType // the third part of the text above
		if strings.Contains(c.sampleType+c.sampleUnit+c.periodType, ":") {
			r.problem(convertGo+"newProfileBuilder", "type %q has a colon: the name of the profile is another part of it", c.sampleType)
		}
	}
	return c
}

// sample converts a sample (convertSampleBack).
func (r *request) sample(c *converted, p *wire.Profile, s *wire.Sample) {
	values := slices.Clone(s.GetValues())
	if len(values) == 0 {
		values = []int64{int64(len(s.GetTimestampsUnixNano()))}
		if values[0] == 0 {
			r.problem(convertGo+"convertSampleBack", "sample value is required")
			return
		}
		if c.sampleUnit != "count" && c.name != "process_cpu" {
			r.problem(convertGo+"convertSampleBack", "timestamps count 1 each, the unit is %s", c.sampleUnit)
		}
	}
	switch c.name {
	case "process_cpu":
		product := values[0] * p.GetPeriod()
		if p.GetPeriod() != 0 && product/p.GetPeriod() != values[0] {
			r.problem(convertGo+"convertSampleBack", "%d periods of %d ns overflow", values[0], p.GetPeriod())
		}
		values[0] = product
	case "off_cpu":
		sum := int64(0)
		for _, v := range values {
			sum += v
		}
		values = []int64{sum}
	}
	if len(values) != 1 { // with a period here, without one in pkg/validation/validate.go
		r.problem(convertGo+"convertSampleBack", "sample values length mismatch %d 1", len(values))
		return
	}
	converted := sample{labels: map[string]string{}, value: values[0]}
	r.labels(&converted, s)
	r.stack(c, &converted, s.GetStackIndex())
	c.samples = append(c.samples, converted)
}

// labels converts attributes and link (convertSampleAttributesToLabelsBack).
func (r *request) labels(to *sample, s *wire.Sample) {
	for _, i := range s.GetAttributeIndices() {
		attribute := r.dictionary.GetAttributeTable()[i] // serviceOf has checked it
		key, value := r.text(attribute.GetKeyStrindex()), textOf(attribute.GetValue())
		if key == "service.name" || value == "" {
			continue
		}
		if _, has := to.labels[key]; !has { // pkg/model/pprofsplit, addSampleLabelsToLabelsBuilder
			to.labels[key] = value
		}
	}
	if len(to.labels) > 100 {
		r.problem("pkg/validation/validate.go, ValidateProfile", "%d labels on a sample; limit 100", len(to.labels))
	}
	if i := s.GetLinkIndex(); i != 0 {
		if i < 0 || int(i) >= len(r.dictionary.GetLinkTable()) {
			r.problem(convertGo+"convertSampleAttributesToLabelsBack", "link %d is out of bounds", i)
			return
		}
		to.spanID = fmt.Sprintf("%x", r.dictionary.GetLinkTable()[i].GetSpanId())
	}
}

// stack follows the references of a stack (convertLocationBack and what it calls).
func (r *request) stack(c *converted, to *sample, index int32) {
	d := r.dictionary
	if index < 0 || int(index) >= len(d.GetStackTable()) {
		r.problem(convertGo+"convertSampleBack", "invalid stack index: %d", index)
		return
	}
	for _, i := range d.GetStackTable()[index].GetLocationIndices() {
		to.locations++
		if i < 0 || int(i) >= len(d.GetLocationTable()) {
			r.problem(convertGo+"convertSampleBack", "location %d is out of bounds", i)
			return
		}
		if _, known := c.symbols[[2]int32{'l', i}]; known {
			continue
		}
		location := d.GetLocationTable()[i]
		c.symbols[[2]int32{'l', i}] = 16 + 12*len(location.GetLines())
		if m := location.GetMappingIndex(); m < 0 || int(m) >= len(d.GetMappingTable()) {
			r.problem(convertGo+"convertLocationBack", "mapping %d is out of bounds", m)
		} else {
			c.symbols[[2]int32{'m', m}] = 40 + len(r.text(d.GetMappingTable()[m].GetFilenameStrindex()))
		}
		for _, line := range location.GetLines() {
			r.function(c, line.GetFunctionIndex())
		}
	}
}

func (r *request) function(c *converted, i int32) {
	if i < 0 || int(i) >= len(r.dictionary.GetFunctionTable()) {
		r.problem(convertGo+"convertLineBack", "function %d is out of bounds", i)
		return
	}
	f := r.dictionary.GetFunctionTable()[i]
	c.symbols[[2]int32{'f', i}] = 16
	for _, text := range []int32{f.GetNameStrindex(), f.GetSystemNameStrindex(), f.GetFilenameStrindex()} {
		c.symbols[[2]int32{'s', text}] = 3 + len(r.text(text))
	}
}

// serviceOf returns the service that a sample names (serviceNameFromSample).
func (r *request) serviceOf(s *wire.Sample) (service string, ok bool) {
	table := r.dictionary.GetAttributeTable()
	for _, i := range s.GetAttributeIndices() {
		if i < 0 || int(i) >= len(table) {
			return "", false
		}
		if service == "" && r.text(table[i].GetKeyStrindex()) == "service.name" {
			service = textOf(table[i].GetValue())
		}
	}
	return service, true
}

// serviceName returns the service of a resource (getServiceNameFromAttributes). Keys that are
// references are empty here, as they are there.
func serviceName(attributes []*common.KeyValue) string {
	fallback := "unknown_service"
	for _, a := range attributes {
		switch text := textOf(a.GetValue()); {
		case text == "":
		case a.GetKey() == "service.name":
			return text
		case a.GetKey() == "process.executable.name":
			fallback += ":" + text
		}
	}
	return fallback
}

// attributesToLabels adds the attributes of a resource or scope (ingest_handler.go,
// appendAttributesUnique). References into the dictionary have neither key nor text.
func (r *request) attributesToLabels(labels map[string]string, attributes []*common.KeyValue) {
	for _, a := range attributes {
		if text := textOf(a.GetValue()); text != "" {
			if _, has := labels[a.GetKey()]; !has {
				labels[a.GetKey()] = text
			}
		}
	}
}

// textOf returns a value as the text of a label (stringValueFromAnyValue): only strings, integers
// and lists of one of them have one.
func textOf(v *common.AnyValue) string {
	if list := v.GetArrayValue().GetValues(); len(list) == 1 {
		v = list[0]
	}
	switch value := v.GetValue().(type) {
	case *common.AnyValue_StringValue:
		return value.StringValue
	case *common.AnyValue_IntValue:
		return strconv.FormatInt(value.IntValue, 10)
	}
	return ""
}
