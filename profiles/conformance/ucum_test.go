// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"strings"
	"testing"
)

// TestUCUM: the expected values are those of UCUM's functional tests (github.com/FHIR/Ucum-java),
// and the units of OpenTelemetry's conventions.
func TestUCUM(t *testing.T) {
	for _, valid := range []string{
		"1", "%", "s", "ms", "us", "ns", "min", "h", "d", "By", "KiBy", "MiBy", "kBy", "bit", "Hz", "{request}", "{cpu}", "By/s", "1/s", "/s", "{operation}/s",
		"10*", "10*3/ul", "10^-3", "10*-6", "m2", "m-2", "m/s2", "kg.m/s2", "/(s.m2)", "(8.h)", "mg/(24.h)", "mm[Hg]", "[iU]/mL", "m[iU]/L", "k[iU]", "cal_[15]",
		"%[slope]", "dB[SPL]", "mol{creat}", "m{a}.s", "rad2{a}", "meq/8.h", "12.h", "g/12.h", "''", "Cel", "[degF]", "m+2", "daL", "1{c}",
	} {
		if !isUCUM(valid) {
			t.Errorf("%q is not accepted", valid)
		}
	}
	for _, invalid := range []string{
		"", "m/", "10+3/ul", "rad2{錠}", "{a}rad2{b}", "{|}1", "iU", "molv", "g/12h", "mL/10h", "U/1h", "ug(8.h)", "ug(8hr)", "mmol/kg(", "nanoseconds", "count",
		"bytes", "milliseconds", "samples", "ns ", "m s", "(s", "s)", "{a", "kmin", "x[a]", "[iU", "..", "m..s", "k", "Ki", "µs", "sec", "KB", "mm{a b}",
	} {
		if isUCUM(invalid) {
			t.Errorf("%q is accepted", invalid)
		}
	}
	if isUCUM(strings.Repeat("(", 1000) + "s" + strings.Repeat(")", 1000)) {
		t.Error("1000 levels are read")
	}
}
