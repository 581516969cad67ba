// SPDX-License-Identifier: Apache-2.0

package frommeasure

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/measure"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// Source is what the request and the configuration tell about a batch of Measure's.
type Source struct {
	ServiceName  string // configured for the app; "" = its package or bundle id
	Environment  string // configured for the app
	ReceivedNano uint64 // time of receipt, unix nanoseconds

	UserPrefix       string // in front of user-defined attributes
	ClientAddress    string // "" = not asked for
	HTTPBodies       bool   // pass on what http events have of them
	SessionOnMetrics bool   // session.id on data points: a series per session
}

// measureScope is the scope of all that is made from Measure's events: not the SDK's, of which we are only told.
const measureScope = "github.com/otelcol-sentry/otelcol-sentry/measurereceiver"

// measureResource are the attributes that stand on the resource, and the key by which items are grouped: one batch may mix
// app versions.
type measureResource struct {
	installation, version, build, app, sdk               string
	patch, patchVersion                                  string
	expoUpdate, expoRuntime, expoPolicy, expoEnvironment string
	expoVersion, expoSDK, expoProject                    string
	expoEmbeddedLaunch, expoEmbeddedAssets               measureFlag
	platform, osName, osVersion                          string
	pageSize, dpi, width, height                         measure.Int
	density                                              measure.Float
	deviceName, model, manufacturer, deviceType, cpuArch string
	foldable, physical                                   measureFlag
}

// measureFlag is a *bool that can be compared.
type measureFlag struct{ value, set bool }

func flagOf(b *bool) measureFlag {
	if b == nil {
		return measureFlag{}
	}
	return measureFlag{*b, true}
}

func (f measureFlag) put(m pcommon.Map, key string) {
	if f.set {
		m.PutBool(key, f.value)
	}
}

func measureResourceOf(a *measure.Attributes) measureResource {
	return measureResource{
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

// maxPlatform bounds text for which the backend has no rule. The words in use have up to seven bytes.
const maxPlatform = 32

// platformBeside returns the platform unless os_name says the same, as it does for all but Flutter.
func platformBeside(a *measure.Attributes) string {
	name := strings.ToLower(a.OSName)
	if strings.EqualFold(a.Platform, name) || strings.EqualFold(a.Platform, "ios") && name == "ipados" {
		return ""
	}
	return cutText(a.Platform, maxPlatform)
}

// androidReleases are the versions that people know, by API level. os_version of Android's SDK is the level.
var androidReleases = map[string]string{
	"21": "5.0", "22": "5.1", "23": "6.0", "24": "7.0", "25": "7.1", "26": "8.0", "27": "8.1", "28": "9", "29": "10", "30": "11",
	"31": "12", "32": "12L", "33": "13", "34": "14", "35": "15", "36": "16",
}

func (r measureResource) fill(m pcommon.Map, src Source) {
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
	if arch != r.cpuArch || !knownHostArchs[arch] { // arm64e has instructions that arm64 has not
		attr.PutText(m, semconv.MeasureDeviceCPUArch, r.cpuArch)
	}
	attr.PutText(m, semconv.MeasureAppUniqueID, r.appBeside(src))
	attr.PutText(m, semconv.MeasureDeviceName, r.deviceName)
	attr.PutText(m, semconv.MeasureDeviceType, r.deviceType)
	r.foldable.put(m, semconv.MeasureDeviceIsFoldable)
	r.physical.put(m, semconv.MeasureDeviceIsPhysical)
	putMeasureInt(m, semconv.MeasureDeviceDensityDPI, r.dpi)
	putMeasureInt(m, semconv.MeasureDeviceWidthPx, r.width)
	putMeasureInt(m, semconv.MeasureDeviceHeightPx, r.height)
	putMeasureFloat(m, semconv.MeasureDeviceDensity, r.density)
	if r.pageSize.Value > 0 {
		m.PutInt(semconv.MeasureOSPageSize, r.pageSize.Value*bytesPerKiB)
	}
	attr.PutText(m, semconv.MeasurePatchID, r.patch)
	attr.PutText(m, semconv.MeasurePatchVersion, r.patchVersion)
	r.fillExpo(m)
}

// appBeside is the package or bundle id where service.name is another.
func (r measureResource) appBeside(src Source) string {
	if src.ServiceName == "" || src.ServiceName == r.app {
		return ""
	}
	return r.app
}

var knownHostArchs = map[string]bool{"amd64": true, "arm32": true, "arm64": true, "x86": true}

func (r measureResource) fillOS(m pcommon.Map) {
	attr.PutText(m, semconv.MeasurePlatform, r.platform)
	switch name := strings.ToLower(r.osName); name {
	case "android":
		m.PutStr(semconv.TelemetrySDKLanguage, "kotlin")
		m.PutStr(semconv.OSType, "linux")
		m.PutStr(semconv.OSName, "Android")
		attr.PutText(m, semconv.OSVersion, attr.FirstText(androidReleases[r.osVersion], r.osVersion))
		attr.PutText(m, semconv.AndroidOSAPILevel, r.osVersion)
	default: // validation leaves ios and ipados
		m.PutStr(semconv.TelemetrySDKLanguage, "swift")
		m.PutStr(semconv.OSType, "darwin")
		m.PutStr(semconv.OSName, map[string]string{"ios": "iOS", "ipados": "iPadOS"}[name])
		attr.PutText(m, semconv.OSVersion, r.osVersion)
	}
}

func (r measureResource) fillExpo(m pcommon.Map) {
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

// byResource gives each resource of a batch its place in a message.
type byResource[S any] struct {
	places map[measureResource]S
	make   func(measureResource) S
}

func newByResource[S any](make func(measureResource) S) *byResource[S] {
	return &byResource[S]{map[measureResource]S{}, make}
}

func (b *byResource[S]) of(a *measure.Attributes) S {
	key := measureResourceOf(a)
	place, known := b.places[key]
	if !known {
		place = b.make(key)
		b.places[key] = place
	}
	return place
}

func putMeasureInt(m pcommon.Map, key string, n measure.Int) {
	if n.Set {
		m.PutInt(key, n.Value)
	}
}

func putMeasureFloat(m pcommon.Map, key string, n measure.Float) {
	if n.Set {
		m.PutDouble(key, n.Value)
	}
}

// putTrue sets a flag that says something only when it is set.
func putTrue(m pcommon.Map, key string, flag bool) {
	if flag {
		m.PutBool(key, true)
	}
}
