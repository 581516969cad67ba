// SPDX-License-Identifier: Apache-2.0

package semconv

// MeasurePrefix (project) starts the keys and event names for Measure's SDKs, mostly before the
// name of a field or event type.
const MeasurePrefix = "measure."

// Project: Measure, on the resource.
const (
	MeasurePlatform                  = "measure.platform"
	MeasureAppUniqueID               = "measure.app_unique_id"
	MeasureDeviceName                = "measure.device.name"
	MeasureDeviceType                = "measure.device.type"
	MeasureDeviceCPUArch             = "measure.device.cpu_arch"
	MeasureDeviceIsFoldable          = "measure.device.is_foldable"
	MeasureDeviceIsPhysical          = "measure.device.is_physical"
	MeasureDeviceDensity             = "measure.device.density"
	MeasureDeviceDensityDPI          = "measure.device.density_dpi"
	MeasureDeviceWidthPx             = "measure.device.width_px"
	MeasureDeviceHeightPx            = "measure.device.height_px"
	MeasureOSPageSize                = "measure.os.page_size"
	MeasurePatchID                   = "measure.patch.id"
	MeasurePatchVersion              = "measure.patch.version"
	MeasureExpoUpdateID              = "measure.expo.update_id"
	MeasureExpoRuntimeVersion        = "measure.expo.runtime_version"
	MeasureExpoIsEmbeddedLaunch      = "measure.expo.is_embedded_launch"
	MeasureExpoIsUsingEmbeddedAssets = "measure.expo.is_using_embedded_assets"
	MeasureExpoAutomaticUpdatePolicy = "measure.expo.automatic_update_policy"
	MeasureExpoExecutionEnvironment  = "measure.expo.execution_environment"
	MeasureExpoVersion               = "measure.expo.version"
	MeasureExpoSDKVersion            = "measure.expo.sdk_version"
	MeasureExpoEASProjectID          = "measure.expo.eas_project_id"
)

// Project: Measure, on all log records and spans.
const (
	MeasureSessionStartTime        = "measure.session.start_time"
	MeasureUserTriggered           = "measure.user_triggered"
	MeasureFieldsDropped           = "measure.fields_dropped"
	MeasureNetworkGeneration       = "measure.network.generation"
	MeasureDeviceLocale            = "measure.device.locale"
	MeasureDeviceLowPowerMode      = "measure.device.low_power_mode"
	MeasureDeviceThermalThrottling = "measure.device.thermal_throttling"
	MeasureAttachmentIDs           = "measure.attachment.ids"
	MeasureAttachmentTypes         = "measure.attachment.types"
	MeasureAttachmentNames         = "measure.attachment.names"
)

// Project: Measure, on spans.
const (
	MeasureTraceID        = "measure.trace_id"  // if not a valid ID
	MeasureSpanID         = "measure.span_id"   // the same
	MeasureParentID       = "measure.parent_id" // the same
	MeasureSpanKind       = "measure.span.kind"
	MeasureSpanDurationMS = "measure.span.duration_ms"
	MeasureHTTPClient     = "measure.http.client"
)
