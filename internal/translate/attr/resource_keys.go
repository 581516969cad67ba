// SPDX-License-Identifier: Apache-2.0

package attr

var ResourceContextKeys = map[string]string{
	"os.name":             KeyOSName,
	"os.version":          KeyOSVersion,
	"os.build":            KeyOSBuild,
	"device.manufacturer": KeyManufacturer,
	"device.model_id":     KeyDeviceModel,
	"device.simulator":    KeyDeviceSimulator,
	"runtime.name":        KeyRuntimeName,
	"runtime.version":     KeyRuntimeVersion,
}
