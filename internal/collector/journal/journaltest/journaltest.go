// SPDX-License-Identifier: Apache-2.0

// Package journaltest has what tests of storages share.
package journaltest

import (
	"context"
	"encoding/base64"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// Batches is the part of a storage client that a test writes itself.
type Batches interface {
	Batch(ctx context.Context, operations ...*storage.Operation) error
	Close(ctx context.Context) error
}

// Client executes single operations as batches.
type Client struct{ Batches }

var _ storage.Client = Client{}

// Get returns a value.
func (c Client) Get(ctx context.Context, key string) ([]byte, error) {
	operation := storage.GetOperation(key)
	err := c.Batch(ctx, operation)
	return operation.Value, err
}

// Set sets a value.
func (c Client) Set(ctx context.Context, key string, value []byte) error {
	return c.Batch(ctx, storage.SetOperation(key, value))
}

// Delete deletes a value.
func (c Client) Delete(ctx context.Context, key string) error {
	return c.Batch(ctx, storage.DeleteOperation(key))
}

// Read returns the values of a storage from a file that has a key and its value in base64 per line.
func Read(t *testing.T, path string) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	values := map[string][]byte{}
	for line := range strings.Lines(string(text)) {
		key, encoded, _ := strings.Cut(strings.TrimSpace(line), " ")
		values[key], err = base64.StdEncoding.DecodeString(encoded)
		require.NoError(t, err)
	}
	return values
}
