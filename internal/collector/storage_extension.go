// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"fmt"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// StorageExtension returns the storage extension with an ID.
func StorageExtension(host component.Host, id component.ID) (storage.Extension, error) {
	extension, ok := host.GetExtensions()[id].(storage.Extension)
	if !ok {
		return nil, fmt.Errorf("storage: %q is not a configured storage extension; add one, e.g. file_storage, under extensions and service::extensions", id)
	}
	return extension, nil
}
