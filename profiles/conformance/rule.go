// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"cmp"
	"fmt"
	"slices"
)

// Rule is one requirement of a valid profiles message. The names are stable: tests and messages use
// them.
type Rule string

// The publications that contain the rules.
const (
	fromProfcheck = "https://github.com/open-telemetry/sig-profiling/blob/main/profcheck/check.go"
	fromProtocol  = "https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/profiles/v1development/profiles.proto"
	fromMappings  = "https://opentelemetry.io/docs/specs/otel/profiles/mappings/"
	fromCommon    = "https://opentelemetry.io/docs/specs/otel/common/"
	fromValues    = "https://opentelemetry.io/docs/specs/otel/profiles/#known-values"
	fromMessages  = "https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/common/v1/common.proto"
	fromSemconv   = "https://opentelemetry.io/docs/specs/semconv/general/profiles/"
	fromProtobuf  = "https://protobuf.dev/programming-guides/proto3/#scalar"
)

// sources maps each rule to its publication, except for profcheck's rules.
var sources = map[Rule]string{
	RuleFunctionUnnamed:    fromProtocol,
	RuleBuildID:            fromMappings,
	RulePayload:            fromProtocol,
	RuleSampleTwice:        fromProtocol,
	RuleText:               fromProtobuf,
	RuleResourceAttributes: fromCommon,
	RuleAddress:            fromProtocol,
	RuleMapKey:             fromMessages,
	RulePayloadFormat:      fromValues,
	RuleFrameType:          fromSemconv,
	RulePprofScope:         fromSemconv,
	RuleUnit:               fromProtocol,
}

// Source returns the publication of the rule.
func (r Rule) Source() string { return cmp.Or(sources[r], fromProfcheck) }

// optional lists the rules that valid messages may break: those against redundant data, which
// profcheck checks only on request, and recommendations that it does not check.
var optional = []Rule{
	RuleMappingTwice, RuleLocationTwice, RuleFunctionTwice, RuleLinkTwice, RuleStringTwice, RuleAttributeTwice, RuleStackTwice,
	RuleOrphan, RuleSampleTwice, RuleAddress, RuleUnit,
}

// Optional reports whether a message that breaks the rule is valid.
func (r Rule) Optional() bool { return slices.Contains(optional, r) }

// The rules of profcheck, the conformance tool of the OpenTelemetry profiling group (state of
// 2026-08-21), numbered as in its documentation. If one number covers both references and
// duplicates, they are separate rules here.
const (
	RuleEmptyList         Rule = "empty-list"         // 1: no resource_profiles, scope_profiles or profiles
	RuleZeroEntry         Rule = "zero-entry"         // 2: entry 0 of a table missing or not the zero value
	RuleProfileAttributes Rule = "profile-attributes" // 3: index out of range, key twice
	RuleValueType         Rule = "value-type"         // 4: sample_type or period_type out of range
	RuleSampleReference   Rule = "sample-reference"   // 5: stack, link or attribute out of range, key twice
	RuleTimestampRange    Rule = "timestamp-range"    // 6: timestamp outside [time, time+duration)
	RuleSampleShape       Rule = "sample-shape"       // 7: neither values nor timestamps, or numbers that do not match
	RuleMixedShapes       Rule = "mixed-shapes"       // 8: samples of one profile differ in shape
	RuleMapping           Rule = "mapping"            // 9: reference out of range, key twice, start not before limit
	RuleMappingTwice      Rule = "mapping-twice"      // 9
	RuleLocation          Rule = "location"           // 10: reference out of range, key twice, negative line or column
	RuleLocationTwice     Rule = "location-twice"     // 10
	RuleFunction          Rule = "function"           // 11: string out of range, negative start line
	RuleFunctionTwice     Rule = "function-twice"     // 11
	RuleLink              Rule = "link"               // 12: an id is missing
	RuleLinkTwice         Rule = "link-twice"         // 12
	RuleStringTwice       Rule = "string-twice"       // 13
	RuleAttribute         Rule = "attribute"          // 14: key or unit out of range, or a text of the value
	RuleAttributeTwice    Rule = "attribute-twice"    // 14
	RuleStack             Rule = "stack"              // 15: location out of range
	RuleStackTwice        Rule = "stack-twice"        // 15
	RuleOrphan            Rule = "orphan"             // 16: entry that no profile reaches
)

// Requirements of the specification that profcheck does not test, and our own requirements.
const (
	// RuleFunctionUnnamed: a function has a name, a system name or a file.
	RuleFunctionUnnamed Rule = "function-unnamed"
	// RuleBuildID: a mapping carries process.executable.build_id.gnu, .go or .htlhash.
	RuleBuildID Rule = "build-id"
	// RulePayload: original_payload and its format are both set or both unset.
	RulePayload Rule = "payload"
	// RuleSampleTwice: a profile has one sample per {stack, set of attributes, link}.
	RuleSampleTwice Rule = "sample-twice"
	// RuleText: text is UTF-8. Otherwise, Protobuf decoders reject the message.
	RuleText Rule = "text"
	// RuleResourceAttributes: keys of resource and scope attributes are set and differ. Keys become
	// empty if a mutable message is marshalled, because marshalling moves its strings into the
	// dictionary.
	RuleResourceAttributes Rule = "resource-attributes"
	// RuleAddress: the address of a location is in its mapping.
	RuleAddress Rule = "address"
	// RuleMapKey: the keys of a map differ, in values of attributes.
	RuleMapKey Rule = "map-key"
	// RulePayloadFormat: original_payload_format is a known value.
	RulePayloadFormat Rule = "payload-format"
	// RuleFrameType: profile.frame.type has the well-known value, if one applies.
	RuleFrameType Rule = "frame-type"
	// RulePprofScope: pprof.scope.* are attributes of a scope.
	RulePprofScope Rule = "pprof-scope"
	// RuleUnit: the unit of an attribute is a UCUM unit.
	RuleUnit Rule = "unit"
)

// There is no rule for the length of profile_id: pdata holds 16 bytes or none and refuses to
// unmarshal anything else.

// Violation is one violation of a rule in a message.
type Violation struct {
	Rule   Rule
	Where  string // the list, such as "location_table" or "resource_profiles[0].scope_profiles[0].profiles[2].samples"
	Index  int    // the element of that list; -1 = the whole list
	Detail string // the values that break the rule, such as "location 17 of 5"
}

// Place returns the place of the violation, such as "stack_table[3]".
func (v Violation) Place() string {
	if v.Index < 0 {
		return v.Where
	}
	return fmt.Sprintf("%s[%d]", v.Where, v.Index)
}

// String returns one line: "stack: stack_table[3]: location 17 of 5".
func (v Violation) String() string { return fmt.Sprintf("%s: %s: %s", v.Rule, v.Place(), v.Detail) }
