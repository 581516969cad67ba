// SPDX-License-Identifier: Apache-2.0

package dictionary

import "go.opentelemetry.io/collector/pdata/pprofile"

// Shape states whether a sample has values, timestamps or both.
type Shape string

const (
	ShapeNone       Shape = ""
	ShapeTimestamps Shape = "timestamps only"
	ShapeTotal      Shape = "one value"
	ShapePoints     Shape = "a value per timestamp"
)

// ShapeOf returns the shape of a sample, or ShapeNone if the numbers of its values and timestamps
// differ.
func ShapeOf(s pprofile.Sample) Shape {
	switch values, timestamps := s.Values().Len(), s.TimestampsUnixNano().Len(); {
	case values == 0 && timestamps > 0:
		return ShapeTimestamps
	case values == 1 && timestamps == 0:
		return ShapeTotal
	case values > 0 && values == timestamps:
		return ShapePoints
	default:
		return ShapeNone
	}
}
