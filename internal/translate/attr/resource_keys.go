// SPDX-License-Identifier: Apache-2.0

package attr

import "github.com/otelcol-sentry/otelcol-sentry/internal/semconv"

// ContextMember is a member of one of Sentry's contexts.
type ContextMember struct{ Context, Name string }

// DeviceArch becomes host.arch, with the values of the convention.
var DeviceArch = ContextMember{"device", "arch"}

// ResourceContextKeys are the resource attributes for members of contexts.
var ResourceContextKeys = map[ContextMember]string{
	{"os", "name"}:             semconv.OSName,
	{"os", "version"}:          semconv.OSVersion,
	{"os", "build"}:            semconv.OSBuildID,
	{"device", "manufacturer"}: semconv.DeviceManufacturer,
	{"device", "model_id"}:     semconv.DeviceModelIdentifier,
	{"device", "simulator"}:    semconv.DeviceSimulator,
	{"runtime", "name"}:        semconv.ProcessRuntimeName,
	{"runtime", "version"}:     semconv.ProcessRuntimeVersion,
}
