// SPDX-License-Identifier: Apache-2.0

// Package deduptest has a storage extension for tests.
package deduptest

import (
	"context"
	"errors"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// Memory is a storage extension that outlives windows.
type Memory struct {
	component.StartFunc
	component.ShutdownFunc
	Values map[string][]byte
	Err    error // of all operations
}

// NewMemory returns an empty storage.
func NewMemory() *Memory { return &Memory{Values: map[string][]byte{}} }

// GetClient implements storage.Extension.
func (m *Memory) GetClient(context.Context, component.Kind, component.ID, string) (storage.Client, error) {
	return m, nil
}

// Get implements storage.Client.
func (m *Memory) Get(_ context.Context, key string) ([]byte, error) { return m.Values[key], m.Err }

// Set implements storage.Client.
func (m *Memory) Set(_ context.Context, key string, value []byte) error {
	m.Values[key] = value
	return m.Err
}

// Delete implements storage.Client.
func (m *Memory) Delete(_ context.Context, key string) error {
	delete(m.Values, key)
	return m.Err
}

// Close implements storage.Client.
func (m *Memory) Close(context.Context) error { return nil }

// Batch implements storage.Client.
func (m *Memory) Batch(ctx context.Context, operations ...*storage.Operation) (err error) {
	for _, o := range operations {
		switch o.Type {
		case storage.Get:
			o.Value, err = m.Get(ctx, o.Key)
		case storage.Set:
			err = errors.Join(err, m.Set(ctx, o.Key, o.Value))
		case storage.Delete:
			err = errors.Join(err, m.Delete(ctx, o.Key))
		}
	}
	return err
}
