// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentryitems"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromandroid"
)

// The names of rules that are neither in profile.Rules nor the reason for a loss.
const (
	ruleItemType   = "item_type"
	ruleNoItems    = "no_items"
	ruleFieldTypes = "field_types" // applies to all items, not only to profiles
)

// The publications that contain the rules.
const (
	specification = "https://develop.sentry.dev/sdk/"

	fromEnvelopes  = specification + "foundations/transport/envelopes/"
	fromItems      = specification + "foundations/transport/envelope-items/"
	fromPayloads   = specification + "data-model/event-payloads/"
	fromContainers = specification + "foundations/envelopes/item-containers/"
	fromProfiles   = specification + "telemetry/profiles/"
	fromV1         = fromProfiles + "sample-format-v1/"
	fromLogs       = specification + "telemetry/logs/"
	fromMetrics    = specification + "telemetry/metrics/"
	fromSpans      = specification + "telemetry/spans/span-protocol/"
	fromSessions   = specification + "telemetry/sessions/"
	fromReports    = specification + "telemetry/client-reports/"

	fromOTLP = "https://opentelemetry.io/docs/specs/otlp/"

	// Files of Sentry's ingest (github.com/getsentry/relay).
	fromSchema   = "relay-event-schema/src/protocol"
	fromSizes    = "relay-config/src/config.rs"
	fromOutcomes = "relay-profiling/src/outcomes.rs"
	fromIngest   = "relay-profiling/src/lib.rs"
	fromPerfetto = "relay-profiling/src/perfetto"
	fromAndroid  = "relay-profiling/src/android"

	// Limits that protect memory, higher than those of any recorded payload.
	fromLimits = "limit of the receiver"
)

// sources maps each rule to its publication: a page of the SDK specification, or a file of Sentry's
// ingest.
var sources = map[string]string{
	ruleItemType: fromItems,
	ruleNoItems:  fromEnvelopes,

	// Rules for profiles (profile.Rules).
	"payload_size":             fromSizes,
	"one_profile_per_envelope": fromOutcomes,
	ruleFieldTypes:             fromPayloads,
	"measurement_unit":         "relay-profiling/src/measurements.rs",
	"image_type":               "relay-profiling/src/debug_image.rs",
	"id_form":                  fromProfiles,
	"metadata":                 fromProfiles,
	"platform_header":          fromItems,
	"transaction":              fromV1,
	"transaction_metadata":     fromV1,
	"stack_exists":             fromProfiles,
	"frame_exists":             fromProfiles,
	"enough_samples":           fromOutcomes,
	"duration":                 fromOutcomes,

	// Framing.
	string(sentry.ReasonEnvelopeEmpty):             fromEnvelopes,
	string(sentry.ReasonEnvelopeInvalidHeader):     fromEnvelopes,
	string(sentry.ReasonEnvelopeInvalidItemHeader): fromEnvelopes,
	string(sentry.ReasonEnvelopeMissingNewline):    fromEnvelopes,
	string(sentry.ReasonEnvelopeTruncated):         fromEnvelopes,
	string(sentry.ReasonEnvelopeHeaderTooLarge):    fromLimits,
	string(sentry.ReasonEnvelopeTooManyItems):      fromLimits,

	// Unusable profiles, and their samples.
	string(discard.ReasonInvalidJSON):           fromProfiles,
	string(discard.ReasonInvalidBase64):         fromAndroid,
	string(discard.ReasonInvalidSampledProfile): fromPerfetto,
	string(discard.ReasonExceedSizeLimit):       fromSizes,
	string(discard.ReasonMalformedSamples):      fromProfiles,
	string(discard.ReasonMalformedStacks):       fromProfiles,
	string(discard.ReasonNotEnoughSamples):      fromOutcomes,
	string(discard.ReasonPlatformNotSupported):  fromIngest,
	string(discard.ReasonTooDeep):               fromLimits,
	string(discard.ReasonTooManyFrames):         fromLimits,
	string(discard.ReasonTooManyImages):         fromLimits,
	string(discard.ReasonTooManyMeasurements):   fromLimits,
	string(discard.ReasonTimeOutOfRange):        fromProfiles,

	// Traces of Android.
	string(fromandroid.ReasonUnmatchedExit): fromAndroid,
	string(fromandroid.ReasonTooDeep):       fromLimits,
	string(fromandroid.ReasonPacket):        fromPerfetto,
	string(fromandroid.ReasonUnknownFrame):  fromPerfetto,
	string(fromandroid.ReasonNoStack):       fromPerfetto,
	string(fromandroid.ReasonNoClock):       fromPerfetto,

	// Other items.
	event.FieldUnmapped:                         fromSchema,
	string(jsonscan.ReasonMalformed):            fromItems,
	string(jsonscan.ReasonTooLarge):             fromSizes,
	string(jsonscan.ReasonTooManyElements):      fromLimits,
	string(jsonscan.ReasonNothingUsable):        fromItems,
	string(event.ReasonInvalidTransactionEvent): "relay-event-normalization/src/validation.rs",
	string(event.ReasonInvalidSpan):             "relay-event-normalization/src/validation.rs",
	string(event.ReasonSpanNoObject):            fromSpans,
	string(event.ReasonSpanInvalidID):           fromSpans,
	string(event.ReasonSpanNoTime):              fromSpans,
	string(event.ReasonLogNoObject):             fromContainers,
	string(event.ReasonLogNoBody):               fromLogs,
	string(event.ReasonMetricNoObject):          fromContainers,
	string(event.ReasonMetricNoName):            fromMetrics,
	string(event.ReasonMetricUnknownType):       fromMetrics,
	string(event.ReasonMetricNoValue):           fromMetrics,
	string(event.ReasonMetricNegativeCounter):   fromMetrics,
	string(event.ReasonSessionNoObject):         fromSessions,
	string(event.ReasonReportNoQuantity):        fromReports,
	string(sentryitems.ReasonInvalidOTLP):       fromOTLP,
}
