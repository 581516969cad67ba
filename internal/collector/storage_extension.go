// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"fmt"
	"strings"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"
)

// StorageExtension returns the storage extension with an ID.
func StorageExtension(host component.Host, id component.ID) (storage.Extension, error) {
	extension, ok := host.GetExtensions()[id].(storage.Extension)
	if !ok {
		return nil, fmt.Errorf("storage: %q is not a configured storage extension; add one, e.g. file_storage, under extensions and service::extensions", id)
	}
	return explainedStorage{extension}, nil
}

type explainedStorage struct{ storage.Extension }

// GetClient implements storage.Extension.
func (s explainedStorage) GetClient(ctx context.Context, kind component.Kind, id component.ID, name string) (storage.Client, error) {
	client, err := s.Extension.GetClient(ctx, kind, id, name)
	return client, ExplainStorage(err)
}

// StorageField returns a field for the log: where something waits.
func StorageField(key string, id *component.ID) zap.Field {
	if id == nil {
		return zap.String(key, "in memory, lost in a crash")
	}
	return zap.String(key, "in "+id.String())
}

// ExplainStorage adds the fix to the error of a storage that another process has locked. The one of
// file_storage is bbolt's: "timeout".
func ExplainStorage(err error) error {
	if err != nil && strings.HasSuffix(err.Error(), "timeout") {
		return fmt.Errorf("another process uses the storage directory; stop that process, or configure another directory: %w", err)
	}
	return err
}

// StorageClient opens the storage of a component in an extension.
func StorageClient(ctx context.Context, host component.Host, extension component.ID, kind component.Kind, of component.ID, name string) (storage.Client, error) {
	opener, err := StorageExtension(host, extension)
	if err != nil {
		return nil, err
	}
	client, err := opener.GetClient(ctx, kind, of, name)
	if err != nil {
		return nil, fmt.Errorf("storage: cannot open %q: %w", extension, err)
	}
	return client, nil
}
