// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// TestHostileMeasure: attacks with Measure's protocol. Every copy of an app contains its key. After
// each attack, the receiver accepts a valid batch, and all files are below its directories.
func TestHostileMeasure(t *testing.T) {
	varies(t, "batches, forms, files, builds and symbol files of Measure's SDKs")
	for _, a := range measureAttacks {
		t.Run(a.name, parallel(a.run))
	}
}

type measureAttack struct {
	name   string
	do     func(t *testing.T, address string) (sent, status int, took time.Duration)
	status int
	memory int // MiB, maximum at the peak
}

func (a measureAttack) run(t *testing.T) {
	folder, address := t.TempDir(), harness.FreeAddress(t)
	c := harness.Start(t, harness.Settings{MemoryLimit: limitFor(a.memory), Config: fmt.Sprintf(`
receivers:
  sentry: {endpoint: ENDPOINT} # whose health check says that the collector is up
  measure:
    endpoint: %[1]s
    apps: [{api_key: e2e-key, environment: test}]
    attachments: {directory: "%[2]s/kept/attachments", token_secret: e2e-secret}
    builds: {enabled: true, directory: "%[2]s/kept/builds"}
exporters:
  nop:
  file: {path: "%[2]s/logs.jsonl"}
service:
  pipelines:
    profiles: {receivers: [sentry], exporters: [nop]}
    logs: {receivers: [measure], exporters: [file]}
    traces: {receivers: [measure], exporters: [nop]}
    metrics: {receivers: [measure], exporters: [nop]}
`, address, folder)})

	busy := c.CPUTime(t)
	sent, status, took := a.do(t, address)
	assert.Equal(t, a.status, status)
	assert.Less(t, c.CPUTime(t)-busy, longestAnswer)

	afterwards, text := putEvents(t, address, measureEvents(1, ""))
	require.Equal(t, http.StatusOK, afterwards, text)
	harness.CheckLog(t, c, "e2e-key")
	n := 0
	for _, p := range c.Scrape(t) {
		if strings.HasPrefix(p.Name, "otelcol_receiver_measure_") {
			n++
		}
	}
	assert.Less(t, n, 40, "points of the receiver's own metrics")
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, entry := range entries {
		assert.Contains(t, []string{"kept", "logs.jsonl"}, entry.Name())
	}
	kept, err := os.ReadDir(filepath.Join(folder, "kept"))
	require.NoError(t, err)
	assert.Len(t, kept, 2)
	reportAttack(t, c, sent, status, took, a.memory)
}

// putEvents sends a batch in the way of the SDKs.
func putEvents(t *testing.T, address string, body []byte, headers ...string) (int, string) {
	t.Helper()
	all := map[string]string{"Authorization": "Bearer e2e-key", "msr-req-id": uuid.NewString(), "Content-Type": "application/json"}
	for i := 0; i < len(headers); i += 2 {
		all[headers[i]] = headers[i+1]
	}
	return harness.Put(t, "http://"+address+"/events", body, all)
}

// measureEvents returns a batch of n valid events. beside is additional JSON that ends with a
// comma.
func measureEvents(n int, beside string) []byte {
	return []byte(`{"events":[` + harness.List(n, func(b []byte, i int) []byte {
		return fmt.Appendf(b, `{%s"id":"%s","session_id":"9f2f5a0e-58f4-4a3c-8b53-0a1c7f1d2e3f","timestamp":"2026-08-01T10:00:00.250Z",`+
			`"type":"screen_view","screen_view":{"name":"cart"},"attribute":{"installation_id":"6e1f6b6e-2f0a-4c53-9d0a-0b7f5b1f2c31","app_version":"2.4.0",`+
			`"app_build":"240","app_unique_id":"com.example.shop","measure_sdk_version":"0.19.0","os_name":"android","os_version":"34",`+
			`"network_type":"wifi","network_generation":"unknown","network_provider":"unknown"}}`, strings.ReplaceAll(beside, "ID", uuid.NewString()[:13]), uuid.NewString())
	}) + `]}`)
}

var measureAttacks = []measureAttack{
	eventsAttack("gzip: 1 MB that decompresses to 1 GiB", http.StatusBadRequest, memoryLimit, gzipBomb, "Content-Encoding", "gzip"),
	eventsAttack("deflate: 1 MB that decompresses to 1 GiB", http.StatusBadRequest, memoryLimit, deflateBomb, "Content-Encoding", "deflate"),
	eventsAttack("zstd: 100 kB that decompresses to 3 GiB", http.StatusBadRequest, memoryLimit, zstdBomb, "Content-Encoding", "zstd"),
	eventsAttack("zstd: a window of 3.75 TiB", http.StatusBadRequest, memorySmall, zstdLie, "Content-Encoding", "zstd"),
	eventsAttack("snappy: a stated length of 4 GiB", http.StatusBadRequest, memorySmall, snappyLie, "Content-Encoding", "snappy"),
	eventsAttack("a million empty events", http.StatusBadRequest, memoryLimit, func() []byte {
		return []byte(`{"events":[` + times(million, `{}`) + `]}`)
	}),
	eventsAttack("a batch nested 9 million levels deep", http.StatusBadRequest, memoryLimit, func() []byte {
		return []byte(`{"events":[` + nested(9*million) + `]}`)
	}),
	eventsAttack("an ID of 19 MiB", http.StatusBadRequest, memoryLimit, func() []byte {
		return []byte(`{"events":[{"id":"` + strings.Repeat("1", 19<<20) + `"}]}`)
	}),
	eventsAttack("12,000 events that declare 5 files each", http.StatusOK, memoryLarge, func() []byte {
		return measureEvents(12_000, `"attachments":[`+harness.List(5, func(b []byte, i int) []byte {
			return fmt.Appendf(b, `{"id":"ID-8a4b-9a35-0e4f9f5f5a%02d","type":"screenshot","name":"a.webp"}`, i)
		})+`],`)
	}),
	eventsAttack("an event with 200,000 user-defined attributes", http.StatusBadRequest, memoryLarge, func() []byte {
		return measureEvents(1, `"user_defined_attribute":{`+harness.List(200_000, harness.Numbered(`"k`, `":1`))+`},`)
	}),
	eventsAttack("a form with 100,000 parts", http.StatusBadRequest, memoryLimit, func() []byte {
		return []byte(strings.Repeat("--x\r\nContent-Disposition: form-data; name=\"y\"\r\n\r\n\r\n", 100_000) + "--x--\r\n")
	}, "Content-Type", "multipart/form-data; boundary=x"),
	eventsAttack("a form part with a header of 19 MiB", http.StatusBadRequest, memoryLimit, func() []byte {
		return []byte("--x\r\nContent-Disposition: form-data; name=\"" + strings.Repeat("y", 19<<20) + "\"\r\n\r\n{}\r\n--x--\r\n")
	}, "Content-Type", "multipart/form-data; boundary=x"),
	{name: "files sent to forged addresses", status: http.StatusForbidden, memory: memorySmall, do: timed(func(t *testing.T, address string) (sent, status int) {
		for _, path := range []string{
			"/attachments/..%2f..%2f..%2fescaped", "/attachments/../../../escaped", "/symbols/%2e%2e%2f%2e%2e%2fescaped", "/attachments//etc/escaped",
			"/attachments/" + uuid.NewString() + "?t=" + strings.Repeat("A", 82), "/attachments/" + uuid.NewString() + "?t=" + strings.Repeat("%0A", 82), "/symbols/" + uuid.NewString(),
		} {
			status, _ = harness.Put(t, "http://"+address+path, []byte("escaped"), nil)
			assert.Equal(t, http.StatusForbidden, status, path)
			sent += len(path)
		}
		return sent, status
	})},
	{name: "a file that would overwrite another one", status: http.StatusForbidden, memory: memorySmall, do: timed(func(t *testing.T, address string) (sent, status int) {
		announced := uploadsOf(t, address, 2)
		first, second := announced[0].URL, announced[1].ID
		status, _ = harness.Put(t, strings.Replace(first, announced[0].ID, second, 1), []byte("mine"), nil)
		assert.Equal(t, http.StatusForbidden, status)
		status, _ = harness.Put(t, strings.Replace(first, "/attachments/", "/symbols/", 1), []byte("mine"), nil)
		return len(first), status
	})},
	{name: "a file of 1 GiB, with chunked transfer encoding", status: http.StatusRequestEntityTooLarge, memory: memorySmall, do: timed(func(t *testing.T, address string) (sent, status int) {
		body := &countedZeros{left: gibibyte}
		req, err := http.NewRequest(http.MethodPut, uploadsOf(t, address, 1)[0].URL, body)
		require.NoError(t, err)
		response, err := http.DefaultClient.Do(req)
		if err != nil { // the server closes the connection before everything is written
			return gibibyte - body.left, http.StatusRequestEntityTooLarge
		}
		response.Body.Close()
		return gibibyte - body.left, response.StatusCode
	})},
	{name: "a build with a path as its version", status: http.StatusOK, memory: memorySmall, do: timed(func(t *testing.T, address string) (sent, status int) {
		for _, version := range []string{"../../../../escaped", "/etc/escaped", "..", "a\u0000b", strings.Repeat("../", 40) + "x"} {
			status, _ = putBuild(t, address, version, `[]`)
			assert.Contains(t, []int{http.StatusOK, http.StatusBadRequest}, status, version)
		}
		status, _ = putBuild(t, address, "1", `[{"type":"proguard","filename":"../../escaped"}]`)
		assert.Equal(t, http.StatusBadRequest, status)
		return 200, http.StatusOK
	})},
	{name: "a build with 500,000 mapping files", status: http.StatusBadRequest, memory: memoryLimit, do: timed(func(t *testing.T, address string) (sent, status int) {
		mappings := "[" + times(500_000, `{"type":"dsym","filename":"a"}`) + "]"
		status, _ = putBuild(t, address, "1", mappings)
		return len(mappings), status
	})},
	symbolsAttack("a dSYM of 2.6 MB that decompresses to 2 GiB", "dsym", func() []byte {
		return archiveOf("x.dSYM/Contents/Resources/DWARF/x", 2*gibibyte)
	}),
	symbolsAttack("a dSYM with a million files", "dsym", func() []byte {
		var b bytes.Buffer
		zip, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
		out := tar.NewWriter(zip)
		for range million {
			_ = out.WriteHeader(&tar.Header{Name: "x.dSYM/Contents/Resources/DWARF/../../../../../escaped", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"})
		}
		_ = out.Close()
		_ = zip.Close()
		return b.Bytes()
	}),
	symbolsAttack("a fat binary with 4 billion architectures", "dsym", func() []byte { return []byte("\xca\xfe\xba\xbe\xff\xff\xff\xff" + strings.Repeat("\xff", 4096)) }),
	symbolsAttack("a Mach-O with 4 GiB of load commands", "dsym", func() []byte {
		return []byte("\xcf\xfa\xed\xfe" + strings.Repeat("\xff", 4096))
	}),
	symbolsAttack("an ELF file with section headers past the end of the file", "elf_debug", func() []byte {
		return []byte("\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 33) + "\xff\xff\xff\xff\xff\xff\xff\x3f" + strings.Repeat("\x00", 10) + "\x40\x00\xff\xff\x00\x00")
	}),
	symbolsAttack("an ELF file with 60,000 note sections", "elf_debug", func() []byte {
		head := "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 33) + "\x40" + strings.Repeat("\x00", 17) + "\x40\x00\x60\xea\x00\x00"
		section := "\x00\x00\x00\x00\x07" + strings.Repeat("\x00", 19) + "\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff" + strings.Repeat("\x00", 24)
		return []byte(head + strings.Repeat(section, 60_000))
	}),
}

// timed measures the duration of an attack that is quick to create.
func timed(do func(*testing.T, string) (int, int)) func(*testing.T, string) (int, int, time.Duration) {
	return func(t *testing.T, address string) (int, int, time.Duration) {
		begin := time.Now()
		sent, status := do(t, address)
		return sent, status, time.Since(begin)
	}
}

// eventsAttack returns an attack by a batch.
func eventsAttack(name string, status, memory int, body func() []byte, headers ...string) measureAttack {
	return measureAttack{name: name, status: status, memory: memory, do: func(t *testing.T, address string) (int, int, time.Duration) {
		b := body()
		begin := time.Now()
		status, _ := putEvents(t, address, b, headers...)
		return len(b), status, time.Since(begin)
	}}
}

// symbolsAttack returns an attack by a mapping file that is stored, but contains no debug ID.
func symbolsAttack(name, kind string, file func() []byte) measureAttack {
	return measureAttack{name: name, status: http.StatusOK, memory: memorySmall, do: func(t *testing.T, address string) (int, int, time.Duration) {
		status, text := putBuild(t, address, "1", `[{"type":"`+kind+`","filename":"symbols"}]`)
		require.Equal(t, http.StatusOK, status, text)
		var answer struct{ Mappings []harness.MeasureUpload }
		require.NoError(t, json.Unmarshal([]byte(text), &answer))
		content := file()
		begin := time.Now()
		status, _ = harness.Put(t, answer.Mappings[0].URL, content, nil)
		return len(content), status, time.Since(begin)
	}}
}

func putBuild(t *testing.T, address, version, mappings string) (int, string) {
	quoted, _ := json.Marshal(version)
	return harness.Put(t, "http://"+address+"/builds", fmt.Appendf(nil,
		`{"version_name":%s,"version_code":"1","build_type":"apk","build_size":1,"mappings":%s}`, quoted, mappings), map[string]string{"Authorization": "Bearer e2e-key"})
}

// uploadsOf announces files, and returns their upload addresses.
func uploadsOf(t *testing.T, address string, n int) []harness.MeasureUpload {
	status, text := putEvents(t, address, measureEvents(1, `"attachments":[`+harness.List(n, func(b []byte, i int) []byte {
		return fmt.Appendf(b, `{"id":"%s","type":"screenshot","name":"a.webp"}`, uuid.NewString())
	})+`],`))
	require.Equal(t, http.StatusOK, status, text)
	var answer struct{ Attachments []harness.MeasureUpload }
	require.NoError(t, json.Unmarshal([]byte(text), &answer))
	require.Len(t, answer.Attachments, n)
	return answer.Attachments
}

// archiveOf returns a .tgz with one file of zeros.
func archiveOf(name string, size int) []byte {
	var b bytes.Buffer
	zip, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	out := tar.NewWriter(zip)
	_ = out.WriteHeader(&tar.Header{Name: name, Size: int64(size), Typeflag: tar.TypeReg, Mode: 0o600})
	_, _ = io.Copy(out, &countedZeros{left: size})
	_ = out.Close()
	_ = zip.Close()
	return b.Bytes()
}

type countedZeros struct{ left int }

func (z *countedZeros) Read(p []byte) (int, error) {
	if z.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), z.left)
	clear(p[:n])
	z.left -= n
	return n, nil
}
