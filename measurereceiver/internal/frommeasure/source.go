// SPDX-License-Identifier: Apache-2.0

package frommeasure

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/measure"
)

// Source contains the inputs of the translation beside the batch: the request and the
// configuration.
type Source struct {
	ServiceName  string // configured for the app; "" = its package or bundle ID
	Environment  string // configured for the app
	ReceivedNano uint64 // time of receipt, Unix nanoseconds

	UserPrefix       string // prefix of user-defined attributes
	ClientAddress    string // "" = disabled
	HTTPBodies       bool   // keep the bodies of http events
	SessionOnMetrics bool   // session.id on data points: a series per session
}

// scopeName is the scope of all messages: the receiver, because the SDK's instrumentation is
// unknown.
const scopeName = "github.com/otelcol-sentry/otelcol-sentry/measurereceiver"

// resourceKey contains the attributes of a resource. It is the key by which items are grouped,
// because a batch may mix app versions.
type resourceKey struct {
	installation, version, build, app, sdk               string
	patch, patchVersion                                  string
	expoUpdate, expoRuntime, expoPolicy, expoEnvironment string
	expoVersion, expoSDK, expoProject                    string
	expoEmbeddedLaunch, expoEmbeddedAssets               flag
	platform, osName, osVersion                          string
	pageSize, dpi, width, height                         measure.Int
	density                                              measure.Float
	deviceName, model, manufacturer, deviceType, cpuArch string
	foldable, physical                                   flag
}

// flag is a *bool that can be compared.
type flag struct{ value, set bool }

func flagOf(b *bool) flag {
	if b == nil {
		return flag{}
	}
	return flag{value: *b, set: true}
}

func (f flag) put(m pcommon.Map, key string) {
	if f.set {
		m.PutBool(key, f.value)
	}
}

func resourceOf(a *measure.Attributes) resourceKey {
	return resourceKey{
		a.InstallationID.String(), a.AppVersion, a.AppBuild, a.AppUniqueID, a.SDKVersion,
		a.PatchID.String(), a.PatchVersion,
		a.ExpoUpdateID.String(), a.ExpoRuntimeVersion, a.ExpoAutomaticUpdatePolicy, a.ExpoExecutionEnvironment,
		a.ExpoVersion, a.ExpoSDKVersion, a.ExpoEASProjectID,
		flagOf(a.ExpoEmbeddedLaunch), flagOf(a.ExpoEmbeddedAssets),
		platformBeside(a), a.OSName, a.OSVersion,
		a.OSPageSize, a.DeviceDensityDPI, a.DeviceWidth, a.DeviceHeight,
		a.DeviceDensity,
		a.DeviceName, a.DeviceModel, a.DeviceManufacturer, a.DeviceType, a.DeviceCPUArch,
		flagOf(a.DeviceIsFoldable), flagOf(a.DeviceIsPhysical),
	}
}

// maxPlatform limits a text without a limit in the backend. Known platforms have up to seven bytes.
const maxPlatform = 32

// platformBeside returns the platform unless os_name is the same, which it is except for Flutter.
func platformBeside(a *measure.Attributes) string {
	name := strings.ToLower(a.OSName)
	if strings.EqualFold(a.Platform, name) || strings.EqualFold(a.Platform, "ios") && name == "ipados" {
		return ""
	}
	return cutText(a.Platform, maxPlatform)
}

// androidReleases are the public version numbers by API level. Android's SDK sends the level as
// os_version.
var androidReleases = map[string]string{
	"21": "5.0", "22": "5.1", "23": "6.0", "24": "7.0", "25": "7.1", "26": "8.0", "27": "8.1", "28": "9", "29": "10", "30": "11",
	"31": "12", "32": "12L", "33": "13", "34": "14", "35": "15", "36": "16",
}

func (r resourceKey) fill(m pcommon.Map, src Source) {
	attr.PutText(m, semconv.ServiceName, attr.FirstText(src.ServiceName, r.app))
	attr.PutText(m, semconv.ServiceVersion, r.version)
	attr.PutText(m, semconv.DeploymentEnvironmentName, src.Environment)
	attr.PutText(m, semconv.AppBuildID, r.build)
	attr.PutText(m, semconv.AppInstallationID, r.installation)
	m.PutStr(semconv.TelemetrySDKName, "measure")
	attr.PutText(m, semconv.TelemetrySDKVersion, r.sdk)
	r.fillOS(m)
	attr.PutText(m, semconv.DeviceManufacturer, r.manufacturer)
	attr.PutText(m, semconv.DeviceModelIdentifier, r.model)
	arch := attr.HostArch(r.cpuArch)
	if knownHostArchs[arch] {
		m.PutStr(semconv.HostArch, arch)
	}
	if arch != r.cpuArch || !knownHostArchs[arch] { // arm64e has more instructions than arm64
		attr.PutText(m, semconv.MeasureDeviceCPUArch, r.cpuArch)
	}
	attr.PutText(m, semconv.MeasureAppUniqueID, r.appBeside(src))
	attr.PutText(m, semconv.MeasureDeviceName, r.deviceName)
	attr.PutText(m, semconv.MeasureDeviceType, r.deviceType)
	r.foldable.put(m, semconv.MeasureDeviceIsFoldable)
	r.physical.put(m, semconv.MeasureDeviceIsPhysical)
	putInt(m, semconv.MeasureDeviceDensityDPI, r.dpi)
	putInt(m, semconv.MeasureDeviceWidthPx, r.width)
	putInt(m, semconv.MeasureDeviceHeightPx, r.height)
	putFloat(m, semconv.MeasureDeviceDensity, r.density)
	if r.pageSize.Value > 0 {
		m.PutInt(semconv.MeasureOSPageSize, r.pageSize.Value*bytesPerKiB)
	}
	attr.PutText(m, semconv.MeasurePatchID, r.patch)
	attr.PutText(m, semconv.MeasurePatchVersion, r.patchVersion)
	r.fillExpo(m)
}

// appBeside returns the package or bundle ID if it is not the service.name.
func (r resourceKey) appBeside(src Source) string {
	if src.ServiceName == "" || src.ServiceName == r.app {
		return ""
	}
	return r.app
}

var knownHostArchs = map[string]bool{"amd64": true, "arm32": true, "arm64": true, "x86": true}

func (r resourceKey) fillOS(m pcommon.Map) {
	attr.PutText(m, semconv.MeasurePlatform, r.platform)
	switch name := strings.ToLower(r.osName); name {
	case "android":
		m.PutStr(semconv.TelemetrySDKLanguage, "kotlin")
		m.PutStr(semconv.OSType, "linux")
		m.PutStr(semconv.OSName, "Android")
		attr.PutText(m, semconv.OSVersion, attr.FirstText(androidReleases[r.osVersion], r.osVersion))
		attr.PutText(m, semconv.AndroidOSAPILevel, r.osVersion)
	default: // validation permits only ios and ipados
		m.PutStr(semconv.TelemetrySDKLanguage, "swift")
		m.PutStr(semconv.OSType, "darwin")
		m.PutStr(semconv.OSName, map[string]string{"ios": "iOS", "ipados": "iPadOS"}[name])
		attr.PutText(m, semconv.OSVersion, r.osVersion)
	}
}

func (r resourceKey) fillExpo(m pcommon.Map) {
	attr.PutText(m, semconv.MeasureExpoUpdateID, r.expoUpdate)
	attr.PutText(m, semconv.MeasureExpoRuntimeVersion, r.expoRuntime)
	r.expoEmbeddedLaunch.put(m, semconv.MeasureExpoIsEmbeddedLaunch)
	r.expoEmbeddedAssets.put(m, semconv.MeasureExpoIsUsingEmbeddedAssets)
	attr.PutText(m, semconv.MeasureExpoAutomaticUpdatePolicy, r.expoPolicy)
	attr.PutText(m, semconv.MeasureExpoExecutionEnvironment, r.expoEnvironment)
	attr.PutText(m, semconv.MeasureExpoVersion, r.expoVersion)
	attr.PutText(m, semconv.MeasureExpoSDKVersion, r.expoSDK)
	attr.PutText(m, semconv.MeasureExpoEASProjectID, r.expoProject)
}

// byResource creates one entry per resource of a batch.
type byResource[S any] struct {
	entries map[resourceKey]S
	build   func(resourceKey) S
}

func newByResource[S any](build func(resourceKey) S) *byResource[S] {
	return &byResource[S]{entries: map[resourceKey]S{}, build: build}
}

func (b *byResource[S]) of(a *measure.Attributes) S {
	key := resourceOf(a)
	entry, known := b.entries[key]
	if !known {
		entry = b.build(key)
		b.entries[key] = entry
	}
	return entry
}

func putInt(m pcommon.Map, key string, n measure.Int) {
	if n.Set {
		m.PutInt(key, n.Value)
	}
}

func putFloat(m pcommon.Map, key string, n measure.Float) {
	if n.Set {
		m.PutDouble(key, n.Value)
	}
}

// putTrue sets a flag only if it is true.
func putTrue(m pcommon.Map, key string, flag bool) {
	if flag {
		m.PutBool(key, true)
	}
}
