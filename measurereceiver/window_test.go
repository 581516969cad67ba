// SPDX-License-Identifier: Apache-2.0

package measurereceiver

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// memory is a storage that outlives the receiver.
type memory map[string][]byte

func (m memory) Get(_ context.Context, key string) ([]byte, error) { return m[key], nil }
func (m memory) Set(_ context.Context, key string, value []byte) error {
	m[key] = value
	return nil
}
func (m memory) Delete(_ context.Context, key string) error {
	delete(m, key)
	return nil
}
func (m memory) Close(context.Context) error { return nil }
func (m memory) Batch(ctx context.Context, operations ...*storage.Operation) (err error) {
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

// TestWindowSurvives: what was taken is known after a restart, as far as the size goes, and the storage does not grow.
func TestWindowSurvives(t *testing.T) {
	client, now := memory{}, time.Unix(1785578401, 0)
	var keys []takenKey
	for restart := range 4 {
		w := newWindow(3, time.Hour)
		w.persistIn(client)
		for i, key := range keys {
			want := stateTaken
			if i < len(keys)-3 {
				want = stateNew
			}
			got, _ := w.begin(t.Context(), key, now)
			assert.Equal(t, want, got, "%d after restart %d", i, restart)
		}
		for range 2 {
			key := takenKey{appID{1}, uuid.New()}
			got, _ := w.begin(t.Context(), key, now)
			require.Equal(t, stateNew, got)
			require.NoError(t, w.end(t.Context(), key, true, 0, now))
			keys = append(keys, key)
		}
		assert.LessOrEqual(t, len(client), 2*3+1)
		got, _ := newWindow(3, time.Hour).begin(t.Context(), keys[0], now)
		assert.Equal(t, stateNew, got, "without the storage")
	}
	w := newWindow(3, time.Hour)
	w.persistIn(client)
	got, _ := w.begin(t.Context(), keys[len(keys)-1], now.Add(time.Hour))
	assert.Equal(t, stateNew, got, "expired")
}

// TestWindowIsFair: an app that sends many batches makes the window forget its own, in memory and in the storage.
func TestWindowIsFair(t *testing.T) {
	client, now := memory{}, time.Unix(1785578401, 0)
	w := newWindow(10, time.Hour)
	persistent := newWindow(10, time.Hour)
	persistent.persistIn(client)
	quiet, flood := takenKey{appID{1}, uuid.New()}, takenKey{}
	for i := range 200 {
		key := quiet
		if i > 0 {
			flood = takenKey{appID{2}, uuid.New()}
			key = flood
		}
		for _, w := range []*window{w, persistent} {
			state, _ := w.begin(t.Context(), key, now)
			require.Equal(t, stateNew, state)
			require.NoError(t, w.end(t.Context(), key, true, 0, now))
		}
	}
	restarted := newWindow(10, time.Hour)
	restarted.persistIn(client)
	for _, w := range []*window{w, persistent, restarted} {
		for _, key := range []takenKey{quiet, flood} {
			state, _ := w.begin(t.Context(), key, now)
			assert.Equal(t, stateTaken, state)
		}
	}
	assert.Len(t, w.taken, 10)
	assert.LessOrEqual(t, len(client), 2*(1+10)+2)
}

// TestUnfinishedFiles: what a process that was killed has left is removed, and not counted.
func TestUnfinishedFiles(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "app"), 0o700))
	for _, name := range []string{partPrefix + "1", "whole"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, "app", name), []byte("12345"), 0o600))
	}
	s, err := openFileStore(folder, 100)
	require.NoError(t, err)
	defer s.close()
	assert.EqualValues(t, blockSize, s.total)
	assert.Len(t, s.list(), 1)
}

// TestTokenSecret: the configured secret signs addresses; without one, each start has another.
func TestTokenSecret(t *testing.T) {
	secret := func(text string) string {
		return string(start(t, nopHost, func(c *Config) { c.Attachments.TokenSecret = configopaque.String(text) }).shared.secret)
	}
	assert.Equal(t, "secret", secret("secret"))
	first, second := secret(""), secret("")
	assert.Len(t, first, 32)
	assert.NotEqual(t, first, second)
	assert.Len(t, ticket{}.token([]byte(first)), 82, "16 bytes of it are the signature")
}

// TestPublicEndpoint: addresses for uploads are what apps reach, not what a proxy asks for.
func TestPublicEndpoint(t *testing.T) {
	h := start(t, nopHost, func(c *Config) {
		c.Attachments.Directory, c.PublicEndpoint = t.TempDir(), "https://rum.example.com/"
	})
	upload := androidUploads(t, h.events(batchID, goodBatch).text)[0]
	assert.Regexp(t, `^https://rum\.example\.com/attachments/`, upload.UploadURL)
}

// TestBuildRefusals: keys of apps are not enough where others are asked for, and no version names a folder above.
func TestBuildRefusals(t *testing.T) {
	h := start(t, nopHost, func(c *Config) {
		c.Builds.Enabled, c.Builds.Directory, c.Builds.APIKeys = true, t.TempDir(), []configopaque.String{otherKey}
	})
	build := func(key, version string) int {
		return h.send(http.MethodPut, "/builds", []byte(`{"version_name":"`+version+`","version_code":"1","build_type":"apk","build_size":1}`), "Authorization", "Bearer "+key).status
	}
	assert.Equal(t, 200, build(otherKey, "1.0"))
	assert.Equal(t, 401, build(testKey, "1.0"))
	for _, version := range []string{".", ".."} {
		assert.Equal(t, 400, build(otherKey, version), version)
	}
}
