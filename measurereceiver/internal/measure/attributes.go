// SPDX-License-Identifier: Apache-2.0

package measure

// Attributes describe app, device and current state of an event ("attribute") or a span
// ("attributes"). They change within a session, and one batch may mix sessions and app versions.
type Attributes struct {
	InstallationID ID     `json:"installation_id"`
	AppVersion     string `json:"app_version"`
	AppBuild       string `json:"app_build"`
	AppUniqueID    string `json:"app_unique_id"` // package or bundle id
	SDKVersion     string `json:"measure_sdk_version"`

	PatchID      ID     `json:"patch_id"` // over-the-air updates of React Native and Flutter
	PatchVersion string `json:"patch_version"`

	ExpoUpdateID              ID     `json:"expo_update_id"`
	ExpoRuntimeVersion        string `json:"expo_runtime_version"`
	ExpoEmbeddedLaunch        *bool  `json:"is_expo_embedded_launch"`
	ExpoEmbeddedAssets        *bool  `json:"is_expo_using_embedded_assets"`
	ExpoAutomaticUpdatePolicy string `json:"expo_automatic_update_policy"`
	ExpoExecutionEnvironment  string `json:"expo_execution_environment"`
	ExpoVersion               string `json:"expo_version"`
	ExpoSDKVersion            string `json:"expo_sdk_version"`
	ExpoEASProjectID          string `json:"expo_eas_project_id"`

	Platform   string `json:"platform"`   // old SDKs: android, ios, flutter; the backend ignores it
	OSName     string `json:"os_name"`    // android, ios, iOS, ipados
	OSVersion  string `json:"os_version"` // Android: API level; Apple: release
	OSPageSize Int    `json:"os_page_size"`

	DeviceName         string `json:"device_name"`
	DeviceModel        string `json:"device_model"`
	DeviceManufacturer string `json:"device_manufacturer"`
	DeviceType         string `json:"device_type"` // phone, tablet
	DeviceIsFoldable   *bool  `json:"device_is_foldable"`
	DeviceIsPhysical   *bool  `json:"device_is_physical"`
	DeviceDensityDPI   Int    `json:"device_density_dpi"`
	DeviceWidth        Int    `json:"device_width_px"`
	DeviceHeight       Int    `json:"device_height_px"`
	DeviceDensity      Float  `json:"device_density"`
	DeviceLocale       string `json:"device_locale"` // Android en-US, iOS en_IN
	DeviceCPUArch      string `json:"device_cpu_arch"`
	LowPowerMode       bool   `json:"device_low_power_mode"`
	ThermalThrottling  bool   `json:"device_thermal_throttling_enabled"`

	NetworkType       string `json:"network_type"`
	NetworkGeneration string `json:"network_generation"`
	NetworkProvider   string `json:"network_provider"`

	ThreadName       string `json:"thread_name"` // the recording thread; often empty
	UserID           string `json:"user_id"`
	SessionStartTime Time   `json:"session_start_time"`
}

// Family is the operating system, which decides which rules apply.
type Family int

const (
	FamilyUnknown Family = iota
	Android
	Apple
)
