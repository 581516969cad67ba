// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// TestHostileHTTP2: with TLS, a connection carries many requests. Each counts as a connection.
func TestHostileHTTP2(t *testing.T) {
	varies(t, "requests of HTTP/2 per connection, with TLS")
	const connections, streams = 500, 100
	certificate, key := harness.Certificate(t)
	for _, a := range []struct {
		name, peers string
		memory      int
	}{
		{"500 connections of one address with 100 stalled requests each", "[]", 160},
		{"500 connections of a proxy with 100 stalled requests each", "[127.0.0.0/8]", 640},
	} {
		t.Run(a.name, func(t *testing.T) {
			backend := harness.NewSink(t)
			address := harness.FreeAddress(t)
			c := harness.Start(t, harness.Settings{MemoryLimit: attackLimit, Config: fmt.Sprintf(`
receivers:
  sentry: {endpoint: ENDPOINT}
  sentry/tls: {endpoint: %q, tls: {cert_file: %q, key_file: %q}, connections: {trusted_proxies: %s}}
exporters:
  otlp_http: {endpoint: %q}
service:
  pipelines:
    profiles: {receivers: [sentry, sentry/tls], exporters: [otlp_http]}
`, address, certificate, key, a.peers, backend.URL())})
			begin, opened := time.Now(), 0
			for range connections {
				if stall(t, address, "/api/42/envelope/", streams) {
					opened++
				}
			}
			t.Logf("%d connections opened in %s", opened, time.Since(begin))
			time.Sleep(time.Second)
			require.True(t, c.Running(), "the collector lives")
			client := http.Client{Timeout: harness.RequestTimeout, Transport: &http.Transport{
				TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // the certificate is that of this test
				DialContext:     (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).DialContext,
			}}
			defer client.CloseIdleConnections()
			good := harness.Chunk{}.Request()
			request, err := http.NewRequest(http.MethodPost, "https://"+address+"/api/42/envelope/", bytes.NewReader(good.Body))
			require.NoError(t, err)
			request.Header.Set("X-Sentry-Auth", harness.TestAuth)
			sending := time.Now()
			response, err := client.Do(request)
			require.NoError(t, err)
			response.Body.Close()
			require.Equal(t, http.StatusOK, response.StatusCode)
			t.Logf("a valid profile of another address was accepted in %s", time.Since(sending).Round(time.Millisecond))
			reportAttack(t, c, connections*streams*600, noAnswer, time.Since(begin), a.memory)
		})
	}
}

// TestHostileInputsTLS: the same on the OTLP receiver with otlp_limit, which does not limit
// connections: each carries up to 250 requests.
func TestHostileInputsTLS(t *testing.T) {
	varies(t, "requests of HTTP/2 per connection of the OTLP port of the container image")
	const connections, streams = 150, 250
	t.Run("HTTP/2: 150 connections with 250 stalled requests each", func(t *testing.T) {
		certificate, key := harness.Certificate(t)
		c, in := startImageWith(t, "        read_timeout: 30s\n", fmt.Sprintf("        read_timeout: 30s\n        tls: {cert_file: %q, key_file: %q}\n", certificate, key))
		begin := time.Now()
		for range connections {
			require.True(t, stall(t, in.http, "/v1/traces", streams))
		}
		time.Sleep(time.Second)
		got := c.Send(t, harness.Chunk{}.Request())
		assert.Equal(t, http.StatusOK, got.Status, "a valid profile with a DSN")
		reportAttack(t, c, connections*streams*600, noAnswer, time.Since(begin), 640)
	})
}

// stall opens an HTTP/2 connection with a number of requests whose bodies do not end. It reports
// whether the server has accepted it.
func stall(t *testing.T, address, path string, streams int) bool {
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		return false
	}
	t.Cleanup(func() { conn.Close() })
	var out, head bytes.Buffer
	out.WriteString(http2.ClientPreface)
	framer := http2.NewFramer(&out, nil)
	require.NoError(t, framer.WriteSettings())
	encoder := hpack.NewEncoder(&head)
	for i := range streams {
		head.Reset()
		for _, field := range [][2]string{
			{":method", "POST"}, {":scheme", "https"}, {":authority", "localhost"}, {":path", path},
			{"x-sentry-auth", harness.TestAuth}, {"content-length", "1000000"}, {"content-type", "application/x-protobuf"},
		} {
			require.NoError(t, encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}))
		}
		id := uint32(2*i + 1)
		require.NoError(t, framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: head.Bytes(), EndHeaders: true}))
		require.NoError(t, framer.WriteData(id, false, bytes.Repeat([]byte(" "), 600)))
	}
	_, err = conn.Write(out.Bytes())
	return err == nil
}
