// SPDX-License-Identifier: Apache-2.0

package symbolicate

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
)

// FuzzProfiles: broken messages cause no panic, and valid messages stay valid.
func FuzzProfiles(f *testing.F) {
	for seed := range uint64(20) {
		text, err := new(pprofile.ProtoMarshaler).MarshalProfiles(randomProfile(rand.New(rand.NewPCG(seed, 22)), len(minified(f))))
		require.NoError(f, err)
		f.Add(text)
	}
	var asked []ScriptID
	script, _ := shop{f, &asked}.Script(ScriptID{DebugID: debugID})
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(text)
		if err != nil {
			return
		}
		valid := len(conformance.Check(p)) == 0
		Profiles(p, opened{shop{t, &asked}, script})()
		if valid {
			require.Empty(t, conformance.Check(p))
		}
		_, err = new(pprofile.ProtoMarshaler).MarshalProfiles(p)
		require.NoError(t, err)
	})
}
