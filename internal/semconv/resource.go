// SPDX-License-Identifier: Apache-2.0

package semconv

// OTel: service and SDK.
const (
	ServiceNamespace          = "service.namespace"
	ServiceName               = "service.name"
	ServiceVersion            = "service.version"
	ServiceInstanceID         = "service.instance.id"
	DeploymentEnvironmentName = "deployment.environment.name"
	DeploymentEnvironment     = "deployment.environment" // before 1.27
	TelemetrySDKName          = "telemetry.sdk.name"
	TelemetrySDKVersion       = "telemetry.sdk.version"
	TelemetrySDKLanguage      = "telemetry.sdk.language"
)

// OTel: host, container, operating system and device.
const (
	HostArch              = "host.arch"
	HostID                = "host.id"
	HostName              = "host.name"
	ContainerID           = "container.id"
	ContainerImageTags    = "container.image.tags"
	K8sPodUID             = "k8s.pod.uid"
	K8sPodName            = "k8s.pod.name"
	OSType                = "os.type"
	OSName                = "os.name"
	OSVersion             = "os.version"
	OSBuildID             = "os.build_id"
	DeviceManufacturer    = "device.manufacturer"
	DeviceModelIdentifier = "device.model.identifier"
	AndroidOSAPILevel     = "android.os.api_level"
)

// OTel: process and app.
const (
	ProcessPID            = "process.pid"
	ProcessOwner          = "process.owner"
	ProcessExecutableName = "process.executable.name"
	ProcessExecutablePath = "process.executable.path"
	ProcessCreationTime   = "process.creation.time"
	ProcessRuntimeName    = "process.runtime.name"
	ProcessRuntimeVersion = "process.runtime.version"
	AppBuildID            = "app.build_id"
	AppInstallationID     = "app.installation.id"
)

// OTel: variables of a process, which profilers for a whole host can read.
const (
	ProcessEnvironmentVariableSentryRelease     = "process.environment_variable.SENTRY_RELEASE"
	ProcessEnvironmentVariableSentryEnvironment = "process.environment_variable.SENTRY_ENVIRONMENT"
)

// Sentry.
const (
	DeviceLocale      = "device.locale"
	DeviceSimulator   = "device.simulator"
	SentryRelease     = "sentry.release" // service.version is the part behind the @
	SentryDist        = "sentry.dist"
	SentryPlatform    = "sentry.platform"
	SentryEnvironment = "sentry.environment" // of streamed items, moved to the resource
	SentrySDKName     = "sentry.sdk.name"    // the same
	SentrySDKVersion  = "sentry.sdk.version" // the same
)

// Project.
const (
	SentryProjectID          = "sentry.project_id"
	SentryDeviceArchitecture = "sentry.device.architecture" // as sent, if host.arch differs
)
