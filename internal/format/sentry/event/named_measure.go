// SPDX-License-Identifier: Apache-2.0

package event

import "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"

// NamedMeasure is a measurement of a span: one value, unlike the series of a profile.
type NamedMeasure struct {
	Name  string
	Value float64
	Unit  string // "" = none
}

// measures are an object of measurements: {"lcp": {"value": 80, "unit": "millisecond"}}.
func measures[T any](key string, at func(*T) *[]NamedMeasure) row[T] {
	return row[T]{
		key:   key,
		read:  func(l *reader, t *T, name string) { *at(t) = l.namedMeasures(name) },
		write: func(dst []byte, key string, t *T) []byte { return appendMeasures(dst, key, *at(t)) },
	}
}

func (l *reader) namedMeasures(field string) (all []NamedMeasure) {
	l.Object(field, func(key string) {
		measure := NamedMeasure{Name: string(jsonscan.ValidUTF8([]byte(key)))}
		var value jsonscan.Optional[float64]
		l.Object(field, func(key string) {
			switch key {
			case "value":
				value = l.Float(field + ".value")
			case "unit":
				measure.Unit = l.Text(field + ".unit")
			default:
				l.unmapped(field, []byte(key))
			}
		})
		switch {
		case !value.Set || measure.Name == "":
		case len(all) == jsonscan.MaxAttributes:
			l.AddFlaw("too_many")
		default:
			measure.Value = value.Value
			all = append(all, measure)
		}
	})
	return all
}

func appendMeasures(dst []byte, key string, measures []NamedMeasure) []byte {
	if len(measures) == 0 {
		return dst
	}
	dst = append(jsonscan.AppendKey(dst, key), '{')
	for i := range measures {
		dst = append(jsonscan.AppendName(dst, measures[i].Name), `{"value":`...)
		dst = jsonscan.AppendFloat(dst, measures[i].Value)
		dst = append(jsonscan.AppendText(dst, "unit", measures[i].Unit), '}')
	}
	return append(dst, '}')
}
