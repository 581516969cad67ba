// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	profilespb "go.opentelemetry.io/proto/otlp/profiles/v1development"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
)

// TestHostileGRPC: attacks that only gRPC permits on the components behind the OTLP receiver. Its
// message limit is raised from 4 to 64 MiB. Statuses are those of gRPC.
func TestHostileGRPC(t *testing.T) {
	varies(t, "OTLP messages and frames over gRPC, with a limit of 64 MiB")
	for _, a := range grpcAttacks {
		t.Run(a.name, parallel(a.run))
	}
}

type grpcAttack struct {
	name   string
	frame  func() []byte // the message with its prefix
	status int
	memory int // MiB, maximum at the peak
}

// Statuses of gRPC.
const (
	grpcOK        = 0
	grpcExhausted = 8
	grpcInternal  = 13
)

var grpcAttacks = []grpcAttack{
	{name: "gzip: a million stacks and one sample", status: grpcOK, memory: memoryLarge, frame: func() []byte {
		return grpcFrame(zipped(hostileProfile(func(d *dict, _ *profile) {
			d.StackTable = append(d.StackTable, repeated(million, &profilespb.Stack{LocationIndices: []int32{1}})...)
		})))
	}},
	{name: "gzip: a function name of 60 MiB", status: grpcOK, memory: memoryLarge, frame: func() []byte {
		return grpcFrame(zipped(hostileProfile(func(d *dict, _ *profile) { d.StringTable[5] = strings.Repeat("f", 60<<20) })))
	}},
	{name: "gzip: 2^31-1 as every index", status: grpcOK, memory: memorySmall, frame: func() []byte {
		return grpcFrame(zipped(indices("", 1<<31-1).message()))
	}},
	{name: "gzip: 1 MB that decompresses to 1 GiB", status: grpcExhausted, memory: memoryLimit, frame: func() []byte { return grpcFrame(gzipBomb()) }},
	{name: "a message that states a length of 4 GiB", status: grpcExhausted, memory: memorySmall, frame: func() []byte { return []byte("\x00\xff\xff\xff\xff\x0a\x00") }},
	{name: "a message of 65 MiB", status: grpcExhausted, memory: memoryLimit, frame: func() []byte {
		b := grpcFrame(make([]byte, 65<<20))
		b[0] = 0
		return b
	}},
	{name: "garbage", status: grpcInternal, memory: memoryLimit, frame: func() []byte { return grpcFrame(zipped(bytes.Repeat([]byte("\xff\x01{"), million))) }},
}

// grpcFrame returns a compressed message with its length prefix.
func grpcFrame(zipped []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{1}, uint32(len(zipped))), zipped...)
}

func (a grpcAttack) run(t *testing.T) {
	server, backend := fakesentry.Start(t), harness.NewSink(t)
	backend.Check(harness.CheckOTLP)
	otlp, page, grpc := harness.FreeAddress(t), harness.FreeAddress(t), harness.FreeAddress(t)
	config := strings.Replace(otlpEverywhere(otlp, page, backend, server), "protocols: {",
		fmt.Sprintf("protocols: {grpc: {endpoint: %q, max_recv_msg_size_mib: 64}, ", grpc), 1)
	c := harness.Start(t, harness.Settings{MemoryLimit: limitFor(a.memory), Config: config})
	frame := a.frame()

	begin := time.Now()
	status := callGRPC(t, grpc, frame)
	took := time.Since(begin)
	assert.Equal(t, a.status, status)
	askPage(t, c, page)
	checkPage(t, "http://"+otlp, page)
	reportAttack(t, c, len(frame), status, took, a.memory)
}

// callGRPC sends raw bytes, which a gRPC client would reject.
func callGRPC(t *testing.T, address string, frame []byte) (status int) {
	t.Helper()
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: protocols}
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport, Timeout: harness.RequestTimeout}
	request, err := http.NewRequest(http.MethodPost, "http://"+address+"/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export", bytes.NewReader(frame))
	require.NoError(t, err)
	request.Header = http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}, "Grpc-Encoding": {"gzip"}}
	response, err := client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body) // a stream may end early
	_, err = fmt.Sscan(cmp.Or(response.Trailer.Get("Grpc-Status"), response.Header.Get("Grpc-Status")), &status)
	require.NoError(t, err)
	return status
}
