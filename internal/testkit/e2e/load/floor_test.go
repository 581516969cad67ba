// SPDX-License-Identifier: Apache-2.0

//go:build load

package load

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/pprof"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

const floorAddress = "LOAD_FLOOR_ADDRESS"

// startFloor starts a process in place of a collector that does only what every collector must do:
// receive and inflate a request, and compress and post the OTLP form of the profile, which it knows
// in advance. It also serves a CPU profile of itself.
func (b backend) startFloor(t *testing.T, m mix) *harness.Collector {
	address := harness.FreeAddress(t)
	command := testProcess(t, "TestFloor", b.URL, m, func(l load) body { return l.otlp })
	command.Env = append(command.Env, floorAddress+"="+address)
	c := harness.StartCommand(t, command, address)
	require.NoError(t, c.WaitReady(), c.Log)
	return c
}

// TestFloor is the process of startFloor.
func TestFloor(t *testing.T) {
	url, zipped := processInput(t)
	var outputs [][]byte
	for _, z := range zipped {
		var f forwarding
		require.NoError(t, f.inflate(bytes.NewReader(z)))
		outputs = append(outputs, f.plain.Bytes())
	}
	forwardings := sync.Pool{New: func() any { return new(forwarding) }}
	client, requests := loadClient(), atomic.Int64{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", func(http.ResponseWriter, *http.Request) {}) // ready
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("POST /", func(w http.ResponseWriter, req *http.Request) {
		f := forwardings.Get().(*forwarding)
		defer forwardings.Put(f)
		err := f.inflate(req.Body)
		if err == nil {
			err = f.post(&client, url, outputs[int(requests.Add(1)-1)%len(outputs)])
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	server := http.Server{Addr: os.Getenv(floorAddress), Handler: mux}
	stopped, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	context.AfterFunc(stopped, func() { _ = server.Close() })
	assert.ErrorIs(t, server.ListenAndServe(), http.ErrServerClosed)
}

// forwarding has the reusable memory of a request.
type forwarding struct {
	reader  gzip.Reader
	plain   bytes.Buffer
	encoder *zstd.Encoder
	packed  bytes.Buffer
}

func (f *forwarding) inflate(zipped io.Reader) error {
	if err := f.reader.Reset(zipped); err != nil {
		return err
	}
	f.plain.Reset()
	_, err := f.plain.ReadFrom(&f.reader)
	return err
}

// post compresses like confighttp, with its default level.
func (f *forwarding) post(client *http.Client, url string, output []byte) error {
	if f.encoder == nil {
		encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(0)))
		if err != nil {
			return err
		}
		f.encoder = encoder
	}
	f.packed.Reset()
	f.encoder.Reset(&f.packed)
	if _, err := f.encoder.Write(output); err != nil {
		return err
	}
	if err := f.encoder.Close(); err != nil {
		return err
	}
	resp, err := client.Post(url, "application/x-protobuf", bytes.NewReader(f.packed.Bytes()))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the backend answers %s", resp.Status)
	}
	return nil
}
