// SPDX-License-Identifier: Apache-2.0

package attr

import "strings"

// Units of profile attributes.
const (
	UnitNanoseconds  = "ns"
	UnitMilliseconds = "ms"
)

// ucumUnits are the UCUM codes of Sentry's units, as in OpenTelemetry: Relay's names
// (relay-base-schema metric units), the short forms that SDKs accept, and the units of profiles.
var ucumUnits = map[string]string{
	"": "", "none": "",

	"nanosecond": "ns", "ns": "ns",
	"microsecond": "us", "us": "us", "µs": "us",
	"millisecond": "ms", "ms": "ms",
	"second": "s", "s": "s",
	"minute": "min", "min": "min",
	"hour": "h", "h": "h",
	"day": "d", "d": "d",
	"week": "wk", "wk": "wk",

	"bit":  "bit",
	"byte": "By", "b": "By",
	"kilobyte": "kBy", "kb": "kBy", "kibibyte": "KiBy", "kib": "KiBy",
	"megabyte": "MBy", "mb": "MBy", "mebibyte": "MiBy", "mib": "MiBy",
	"gigabyte": "GBy", "gb": "GBy", "gibibyte": "GiBy", "gib": "GiBy",
	"terabyte": "TBy", "tb": "TBy", "tebibyte": "TiBy", "tib": "TiBy",
	"petabyte": "PBy", "pb": "PBy", "pebibyte": "PiBy", "pib": "PiBy",
	"exabyte": "EBy", "eb": "EBy", "exbibyte": "EiBy", "eib": "EiBy",

	"ratio": "1", "percent": "%", "%": "%", // values do not change: 42 percent is 42 %

	"hertz": "Hz", "hz": "Hz",
	"nanojoule": "nJ", "nj": "nJ",
}

// UcumUnit translates a unit. A custom unit (euro) becomes a UCUM annotation, {euro}.
func UcumUnit(unit string) string {
	if code, known := ucumUnits[strings.ToLower(unit)]; known {
		return code
	}
	for _, c := range []byte(unit) {
		if c <= ' ' || c > '~' || c == '{' || c == '}' {
			return "" // not allowed in an annotation
		}
	}
	return "{" + unit + "}"
}

// sentryUnits is the inverse of ucumUnits, with Relay's names: the longest ones.
var sentryUnits = func() map[string]string {
	names := map[string]string{}
	for name, code := range ucumUnits {
		if code != "" && len(name) > len(names[code]) {
			names[code] = name
		}
	}
	return names
}()

// SentryUnit is the inverse of UcumUnit. Sentry accepts unknown units as custom units.
func SentryUnit(code string) string {
	if name, known := sentryUnits[code]; known {
		return name
	}
	if strings.HasPrefix(code, "{") && strings.HasSuffix(code, "}") {
		return code[1 : len(code)-1]
	}
	return code
}

// IsCustomUnit reports whether a result of SentryUnit is none of the units that ingest stores with
// metrics (relay-base-schema/src/metrics/units.rs). Two of ucumUnits are only units of profiles.
func IsCustomUnit(name string) bool {
	code := ucumUnits[name]
	return name != "" && name != "none" && (sentryUnits[code] != name || code == "Hz" || code == "nJ")
}
