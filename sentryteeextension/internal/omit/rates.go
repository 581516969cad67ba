// SPDX-License-Identifier: Apache-2.0

package omit

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// Rates has a threshold for each item type: items whose hash is below it are forwarded. Types
// without a threshold are forwarded in full.
type Rates map[sentry.ItemType]uint64

// sampledTypes are the item types that may have a rate. Replay recordings follow their replay
// event; client reports are never omitted.
var sampledTypes = []sentry.ItemType{
	sentry.ItemAttachment, sentry.ItemCheckIn, sentry.ItemEvent, sentry.ItemFeedback, sentry.ItemLog, sentry.ItemProfile, sentry.ItemProfileChunk,
	sentry.ItemReplayEvent, sentry.ItemReplayVideo, sentry.ItemSession, sentry.ItemSessions, sentry.ItemSpan, sentry.ItemTraceMetric,
	sentry.ItemTransaction, sentry.ItemUserReport,
}

// ValidateRates checks the rates of a configuration.
func ValidateRates(config map[string]float64) (problems []error) {
	for _, name := range slices.Sorted(maps.Keys(config)) {
		if !slices.Contains(sampledTypes, sentry.ItemType(name)) {
			problems = append(problems, fmt.Errorf("forward: %q is not an item type that can have a rate, must be among %q", name, sampledTypes))
		}
		if rate := config[name]; !(rate >= 0 && rate <= 1) {
			problems = append(problems, fmt.Errorf("forward: %s: is %v, must be from 0 to 1, e.g. 0.1", name, rate))
		}
	}
	return problems
}

// NewRates returns the rates of a valid configuration.
func NewRates(config map[string]float64) Rates {
	r := Rates{}
	for name, rate := range config {
		if rate < 1 {
			r[sentry.ItemType(name)] = uint64(rate * (1 << 64))
		}
	}
	if threshold, set := r[sentry.ItemProfileChunk]; set {
		r[sentry.ItemProfileChunkUI] = threshold
	}
	return r
}

// forwards reports whether items of this type with this ID are forwarded. All instances of the
// extension make the same decision, and an ID that is forwarded at one rate is also forwarded at
// all higher rates. At equal or higher rates, the errors of a forwarded transaction are therefore
// forwarded too.
func (r Rates) forwards(t sentry.ItemType, id []byte) bool {
	threshold, set := r[t]
	if !set {
		return true
	}
	sum := sha256.Sum256(id)
	return binary.BigEndian.Uint64(sum[:]) < threshold
}
