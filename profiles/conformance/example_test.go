// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"fmt"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// Check lists each violation with its place. A rule states its publication.
func ExampleCheck() {
	message := pprofile.NewProfiles()
	b := dictionary.NewBuilder(message.Dictionary())
	profile := message.ResourceProfiles().AppendEmpty().ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	sample := profile.Samples().AppendEmpty()
	sample.Values().Append(1)
	sample.SetStackIndex(7)
	b.String("unused")
	b.Finish()

	for _, violation := range conformance.Check(message) {
		fmt.Printf("%s (optional: %t)\n", violation, violation.Rule.Optional())
	}
	fmt.Println(conformance.RuleFunctionUnnamed.Source())
	// Output:
	// sample-reference: resource_profiles[0].scope_profiles[0].profiles[0].samples[0]: stack 7 of 1 (optional: false)
	// orphan: string_table[1]: nothing refers to it (optional: true)
	// https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/profiles/v1development/profiles.proto
}
