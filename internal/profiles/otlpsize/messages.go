// SPDX-License-Identifier: Apache-2.0

package otlpsize

// The messages of requests. Texts and single numbers have no entry.
var (
	Traces  = &Message{fields: fields{1: withLibraries(resourceOf(&Message{memory: 208 + pointer, fields: fields{9: keyValue, 11: event, 13: spanLink}}))}}
	Logs    = &Message{fields: fields{1: withLibraries(resourceOf(&Message{memory: 128 + pointer, fields: fields{5: anyValue, 6: keyValue}}))}}
	Metrics = &Message{fields: fields{1: withLibraries(resourceOf(&Message{memory: 96 + pointer, fields: fields{
		5: dataOf(numberPoint), 7: dataOf(numberPoint), 9: dataOf(histogramPoint), 10: dataOf(exponentialPoint), 11: dataOf(summaryPoint), 12: keyValue,
	}}))}}
	Profiles = &Message{fields: fields{1: resourceOf(&Message{memory: 160 + pointer, fields: fields{2: sample, 11: indices}}), dictionaryField: dictionary}}
)

const dictionaryField = 2

// Points of metrics.
var (
	exemplar         = &Message{memory: 2*72 + 48, fields: fields{7: keyValue}}
	numberPoint      = &Message{memory: 112 + pointer, fields: fields{5: exemplar, 7: keyValue}}
	histogramPoint   = &Message{memory: 176 + pointer, fields: fields{6: numbers, 7: numbers, 8: exemplar, 9: keyValue}}
	exponentialPoint = &Message{memory: 208 + pointer, fields: fields{1: keyValue, 8: buckets, 9: buckets, 11: exemplar}}
	buckets          = &Message{fields: fields{2: numbers}}
	summaryPoint     = &Message{memory: 96 + pointer, fields: fields{6: {memory: 16 + pointer}, 7: keyValue}}
)

// dataOf returns the points of a metric.
func dataOf(point *Message) *Message { return &Message{memory: 48, fields: fields{1: point}} }

// resourceOf returns the resources of a signal with its records.
func resourceOf(record *Message) *Message {
	scope := &Message{memory: 112 + pointer, fields: fields{1: {fields: fields{3: keyValue}}, 2: record}}
	resource := &Message{fields: fields{1: keyValue, 3: {memory: 80 + pointer, fields: fields{3: text, 4: text}}}}
	return &Message{memory: 128 + pointer, fields: fields{1: resource, 2: scope}}
}

// libraries is the number of the field that became scopes. The decoder still reads it.
const libraries = 1000

func withLibraries(resource *Message) *Message {
	resource.fields[libraries] = resource.fields[2]
	return resource
}

// Attributes. Lists of values are copied as they grow.
var (
	values   = fields{} // of a value: lists and maps of values
	anyValue = &Message{memory: 2*16 + 32, fields: values}
	keyValue = &Message{memory: 2*40 + 32, fields: fields{2: {fields: values}}}
)

func init() {
	values[5] = &Message{memory: 32, fields: fields{1: anyValue}}
	values[6] = &Message{memory: 32, fields: fields{1: keyValue}}
}

// Lists of numbers and texts.
var (
	indices = &Message{memory: 9, packed: true}
	numbers = &Message{memory: 18, packed: true}
	text    = &Message{memory: 2*16 + 8}
)

var (
	event    = &Message{memory: 64 + pointer, fields: fields{3: keyValue}}
	spanLink = &Message{memory: 80 + pointer, fields: fields{4: keyValue}}
	sample   = &Message{memory: 80 + pointer, fields: fields{2: indices, 4: numbers}}

	dictionary = &Message{fields: fields{
		1: {memory: 64 + pointer, fields: fields{5: indices}},
		2: {memory: 64 + pointer, fields: fields{3: {memory: 24 + pointer}, 4: indices}},
		3: {memory: 24 + pointer},
		4: {memory: 24 + pointer},
		5: text,
		6: {memory: 24 + pointer, fields: fields{2: {memory: 32, fields: values}}},
		7: {memory: 24 + pointer, fields: fields{1: indices}},
	}}
)
