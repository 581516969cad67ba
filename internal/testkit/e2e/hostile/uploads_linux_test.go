// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// TestHostileUploads: attacks on the endpoint for sentry-cli, by clients that have its token or had
// it. After each attack, an upload of a good file succeeds, and its names are in a profile.
func TestHostileUploads(t *testing.T) {
	varies(t, "chunks, checksums, assemblies and the token of uploads of symbol files, and the space on the disk")
	for _, a := range uploadAttacks {
		t.Run(a.name, parallel(a.run))
	}
}

type uploadAttack struct {
	name string
	disk string // size of a file system of its own, or ""
	do   func(*uploader)
}

var uploadAttacks = []uploadAttack{
	{name: "chunks that end early", do: (*uploader).cutChunks},
	{name: "chunks with the content of others", do: (*uploader).replacedChunks},
	{name: "files and archives with other checksums", do: (*uploader).wrongChecksums},
	{name: "thousands of open assemblies", do: (*uploader).openAssemblies},
	{name: "more chunks than the disk may have", do: (*uploader).tooManyChunks},
	{name: "a token that is revoked during an upload", do: (*uploader).revokedToken},
	{name: "a collector that is killed during uploads", do: (*uploader).killed},
	{name: "a full disk", disk: "6m", do: (*uploader).fullDisk},
}

const (
	uploadToken = "upload-secret"
	newToken    = "another-secret"

	// maxUploads is the smallest uploads::max_total_size.
	maxUploads = 100 << 20
)

// uploader is a client of an attacked collector.
type uploader struct {
	*testing.T
	collector *harness.Collector
	backend   *harness.Sink
	address   string // of the endpoint
	directory string // of symbol files
	token     string
	sent      int
	status    int // of the last request
	mu        sync.Mutex
}

func (a uploadAttack) run(t *testing.T) {
	u := &uploader{T: t, backend: harness.NewSink(t), address: harness.FreeAddress(t), directory: t.TempDir(), token: uploadToken}
	if a.disk != "" {
		err := syscall.Mount("tmpfs", u.directory, "tmpfs", 0, "size="+a.disk)
		if errors.Is(err, os.ErrPermission) {
			t.Skip("a disk that is full: only root may mount a small file system")
		}
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, syscall.Unmount(u.directory, 0)) })
	}
	u.start()
	watching := u.watchDisk()
	begin := time.Now()
	a.do(u)
	took := time.Since(begin)
	for _, f := range u.stored("") {
		assert.NotContains(t, f, ".part-", "incomplete files are removed")
	}
	require.Equal(t, "ok", u.upload(goodSymbols(0)).State)
	u.named()
	watching()
	harness.CheckLog(t, u.collector, uploadToken, newToken)
	reportAttack(t, u.collector, u.sent, u.status, took, memoryLimit)
}

func (u *uploader) settings() harness.Settings {
	s := symbolSettings(u.directory, u.backend)
	s.Config = strings.Replace(s.Config, "hold:", fmt.Sprintf(`uploads: {endpoint: "%s", token: %s, max_total_size: %d}, hold:`, u.address, u.token, maxUploads), 1)
	return s
}

func (u *uploader) start() {
	u.collector = harness.Start(u.T, u.settings())
}

// watchDisk checks the size of the uploads at every moment, until the function that it returns is
// called.
func (u *uploader) watchDisk() (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		most := int64(0)
		for tick := time.Tick(5 * time.Millisecond); ; {
			select {
			case <-done:
				u.Logf("at most %d MiB of uploads on the disk", most>>20)
				assert.LessOrEqual(u, most, int64(maxUploads))
				return
			case <-tick:
				size := int64(0)
				_ = fs.WalkDir(os.DirFS(filepath.Join(u.directory, "uploads")), ".", func(_ string, entry fs.DirEntry, err error) error {
					if err == nil && entry.Type().IsRegular() {
						if info, err := entry.Info(); err == nil {
							size += info.Size()
						}
					}
					return nil
				})
				most = max(most, size)
			}
		}
	}()
	return func() { close(done); <-ended }
}

// stored returns the files of a folder of uploads.
func (u *uploader) stored(folder string) (names []string) {
	root := filepath.Join(u.directory, "uploads", folder)
	_ = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			names = append(names, strings.TrimPrefix(name, root))
		}
		return nil
	})
	return names
}

// assembly is the state of a file in the response.
type assembly struct {
	State   string   `json:"state"`
	Missing []string `json:"missingChunks"`
	Detail  string   `json:"detail"`
}

const (
	chunksPath  = "/api/0/organizations/o/chunk-upload/"
	filesPath   = "/api/0/projects/o/p/files/difs/assemble/"
	bundlesPath = "/api/0/organizations/o/artifactbundle/assemble/"
)

func sha1Of(content []byte) string {
	sum := sha1.Sum(content)
	return hex.EncodeToString(sum[:])
}

// post sends a request, and returns 0 if the connection ends without a response.
func (u *uploader) post(path, token, kind string, body []byte) (status int, text []byte) {
	request, err := http.NewRequest(http.MethodPost, "http://"+u.address+path, bytes.NewReader(body))
	require.NoError(u, err)
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", kind)
	if response, err := http.DefaultClient.Do(request); err == nil {
		status = response.StatusCode
		text, _ = io.ReadAll(response.Body)
		response.Body.Close()
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.sent, u.status = u.sent+len(body), status
	return status, text
}

// parts returns a body with chunks, and its type. Each chunk has a name and a content.
func parts(chunks ...[2]string) (kind string, body []byte) {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for _, chunk := range chunks {
		part, _ := form.CreateFormFile("file", chunk[0])
		_, _ = io.WriteString(part, chunk[1])
	}
	_ = form.Close()
	return form.FormDataContentType(), b.Bytes()
}

func (u *uploader) chunks(chunks ...[]byte) int {
	var named [][2]string
	for _, chunk := range chunks {
		named = append(named, [2]string{sha1Of(chunk), string(chunk)})
	}
	kind, body := parts(named...)
	status, _ := u.post(chunksPath, u.token, kind, body)
	return status
}

// assemble asks for a file of a checksum.
func (u *uploader) assemble(sum string, chunks ...string) (a assembly) {
	body, _ := json.Marshal(map[string]any{sum: map[string]any{"name": "shop.sym", "chunks": chunks}})
	status, text := u.post(filesPath, u.token, "application/json", body)
	require.Equal(u, http.StatusOK, status, "%s", text)
	answers := map[string]assembly{}
	require.NoError(u, json.Unmarshal(text, &answers))
	return answers[sum]
}

// bundle asks for an archive of a checksum.
func (u *uploader) bundle(sum string, chunks ...string) (a assembly) {
	body, _ := json.Marshal(map[string]any{"checksum": sum, "chunks": chunks})
	status, text := u.post(bundlesPath, u.token, "application/json", body)
	require.Equal(u, http.StatusOK, status, "%s", text)
	require.NoError(u, json.Unmarshal(text, &a))
	return a
}

// upload uploads a file in two chunks.
func (u *uploader) upload(content []byte) assembly {
	head, tail := content[:10], content[10:]
	require.Equal(u, http.StatusOK, u.chunks(head, tail))
	return u.assemble(sha1Of(content), sha1Of(head), sha1Of(tail))
}

// named checks that the good file's names are in a profile.
func (u *uploader) named() {
	u.Helper()
	require.True(u, u.collector.Running(), "the collector lives")
	require.Eventually(u, func() bool {
		require.Equal(u, http.StatusOK, u.collector.Send(u, chunkWith(goodID).Request()).Status)
		for _, message := range u.backend.DrainProfiles() {
			profiles, err := harness.DecodeProfiles(message)
			require.NoError(u, err)
			if strings.Contains(dictionarytest.Dump(profiles), "Cart::total") {
				return true
			}
		}
		return false
	}, 30*time.Second, 100*time.Millisecond)
}

// times returns a number that depends on the size of the attacks.
func (u *uploader) times(small, full int) int {
	if os.Getenv("ATTACKS") == "full" {
		return full
	}
	return small
}

// random returns incompressible bytes.
func random(seed, size int) []byte {
	source := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16)})
	b := make([]byte, size)
	_, _ = source.Read(b)
	return b
}

// open sends a part of a request on a connection of its own.
func (u *uploader) open(chunk []byte, size int) net.Conn {
	kind, body := parts([2]string{sha1Of(chunk), string(chunk)})
	connection, err := net.Dial("tcp", u.address)
	require.NoError(u, err)
	_, err = fmt.Fprintf(connection, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n",
		chunksPath, u.address, u.token, kind, len(body))
	require.NoError(u, err)
	_, err = connection.Write(body[:min(size, len(body))])
	require.NoError(u, err)
	u.sent += min(size, len(body))
	return connection
}

// cutChunks sends requests whose chunk ends early, at every place: within its name, in its content,
// before the last boundary.
func (u *uploader) cutChunks() {
	chunk := random(1, 100_000)
	_, body := parts([2]string{sha1Of(chunk), string(chunk)})
	n := u.times(50, 500)
	for i := range n {
		connection := u.open(chunk, i*len(body)/n)
		if i%2 == 0 {
			_ = connection.(*net.TCPConn).CloseWrite()
			_, _ = io.Copy(io.Discard, connection)
		}
		_ = connection.Close()
	}
	assert.Eventually(u, func() bool { return len(u.stored("")) == 0 }, 10*time.Second, 10*time.Millisecond, "%v", u.stored(""))
	assert.Equal(u, []string{sha1Of(chunk)}, u.assemble(sha1Of(chunk), sha1Of(chunk)).Missing)
	// A form without its last boundary is rejected, and the chunk before it may stay.
	kind, body := parts([2]string{sha1Of(chunk), string(chunk)})
	status, _ := u.post(chunksPath, u.token, kind, body[:len(body)-4])
	assert.Equal(u, http.StatusBadRequest, status)
}

// replacedChunks sends other content under the names of chunks that are stored, in the same request
// and meanwhile.
func (u *uploader) replacedChunks() {
	content := goodSymbols(100)
	head, tail := content[:1000], content[1000:]
	require.Equal(u, http.StatusOK, u.chunks(head, tail))
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for i := range u.times(20, 200) {
				kind, body := parts([2]string{sha1Of(head), string(head)}, [2]string{sha1Of(tail), string(random(i, 1+i*100))})
				status, text := u.post(chunksPath, u.token, kind, body)
				assert.Equal(u, http.StatusBadRequest, status)
				assert.Contains(u, string(text), "SHA-1")
			}
		})
	}
	clients.Wait()
	a := u.assemble(sha1Of(content), sha1Of(head), sha1Of(tail))
	assert.Equal(u, "ok", a.State, a.Detail)
	got, err := os.ReadFile(filepath.Join(u.directory, "uploads", "files", sha1Of(content), "symbols"))
	require.NoError(u, err)
	assert.Equal(u, sha1Of(content), sha1Of(got))
}

// wrongChecksums asks for files and archives of chunks that have other checksums together.
func (u *uploader) wrongChecksums() {
	chunk, other := random(1, 8<<20), goodSymbols(0)
	require.Equal(u, http.StatusOK, u.chunks(chunk, other))
	for i := range u.times(5, 100) {
		sum := sha1Of([]byte{byte(i)})
		for _, a := range []assembly{u.assemble(sum, sha1Of(chunk), sha1Of(other)), u.bundle(sum, sha1Of(chunk), sha1Of(other)), u.assemble(strings.ToUpper(sum), sha1Of(chunk)), u.bundle("../"+sum, sha1Of(chunk))} {
			assert.Equal(u, "error", a.State)
		}
	}
	// One chunk, a thousand times: 8 GiB.
	many := make([]string, 1000)
	for i := range many {
		many[i] = sha1Of(chunk)
	}
	assert.Equal(u, "error", u.assemble(sha1Of([]byte("x")), many...).State)
	assert.Empty(u, u.stored("files"))
	assert.Empty(u, u.stored("bundles"))
}

// openAssemblies asks for thousands of files whose chunks never arrive, or of which one does.
func (u *uploader) openAssemblies() {
	one := random(1, 1000)
	require.Equal(u, http.StatusOK, u.chunks(one))
	var clients sync.WaitGroup
	for client := range 8 {
		clients.Go(func() {
			for i := range u.times(5, 50) {
				files := map[string]any{}
				for j := range 200 {
					chunks := []string{sha1Of(one)}
					for k := range 40 {
						chunks = append(chunks, sha1Of(fmt.Append(nil, client, i, j, k)))
					}
					files[sha1Of(fmt.Append(nil, client, i, j))] = map[string]any{"name": "x", "chunks": chunks}
				}
				body, _ := json.Marshal(files)
				status, text := u.post(filesPath, u.token, "application/json", body)
				assert.Contains(u, []int{http.StatusOK, http.StatusServiceUnavailable}, status, "%.100s", text)
			}
		})
	}
	clients.Wait()
	assert.Len(u, u.stored(""), 1)
}

// tooManyChunks uploads twice as many bytes as the uploads may have. The oldest chunks make room,
// and files stay.
func (u *uploader) tooManyChunks() {
	require.Equal(u, "ok", u.upload(goodSymbols(1)).State)
	var clients sync.WaitGroup
	for client := range 4 {
		clients.Go(func() {
			for i := range u.times(7, 40) {
				status := u.chunks(random(client<<8+i, 8<<20))
				assert.Contains(u, []int{http.StatusOK, http.StatusInsufficientStorage}, status)
			}
		})
	}
	clients.Wait()
	assert.Len(u, u.stored("files"), 1)
}

// revokedToken replaces the token while chunks of an assembly are missing and a chunk arrives.
func (u *uploader) revokedToken() {
	content := goodSymbols(10)
	head, tail := content[:100], content[100:]
	require.Equal(u, http.StatusOK, u.chunks(head))
	slow := random(2, 1<<20)
	open := u.open(slow, 1<<19)
	defer open.Close()
	idle, err := net.Dial("tcp", u.address) // has not sent its request
	require.NoError(u, err)
	defer idle.Close()

	const ready = "Everything is ready"
	u.token = newToken
	u.collector.Configure(u, u.settings())
	u.collector.Reload(u)
	require.Eventually(u, func() bool { return strings.Count(u.collector.Log.String(), ready) > 1 }, harness.StartTimeout, 10*time.Millisecond)

	_, _ = open.Write(make([]byte, 1<<19))
	_ = open.SetReadDeadline(time.Now().Add(10 * time.Second))
	response, err := http.ReadResponse(bufio.NewReader(open), nil)
	if err == nil {
		assert.NotEqual(u, http.StatusOK, response.StatusCode)
	}
	_, _ = fmt.Fprintf(idle, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", chunksPath, u.address, uploadToken)
	_ = idle.SetReadDeadline(time.Now().Add(10 * time.Second))
	if response, err := http.ReadResponse(bufio.NewReader(idle), nil); err == nil {
		assert.Equal(u, http.StatusUnauthorized, response.StatusCode)
	}
	kind, body := parts([2]string{sha1Of(tail), string(tail)})
	for _, token := range []string{uploadToken, "", newToken + "x"} {
		status, _ := u.post(chunksPath, token, kind, body)
		assert.Equal(u, http.StatusUnauthorized, status)
		sum := sha1Of(content)
		body, _ := json.Marshal(map[string]any{sum: map[string]any{"name": "x", "chunks": []string{sha1Of(head)}}})
		status, _ = u.post(filesPath, token, "application/json", body)
		assert.Equal(u, http.StatusUnauthorized, status)
	}
	assert.Len(u, u.stored(""), 1, "the first chunk")
	assert.Equal(u, []string{sha1Of(tail)}, u.assemble(sha1Of(content), sha1Of(head), sha1Of(tail)).Missing)
	require.Equal(u, http.StatusOK, u.chunks(tail))
	assert.Equal(u, "ok", u.assemble(sha1Of(content), sha1Of(head), sha1Of(tail)).State)
}

// killed kills the collector while chunks arrive and files are assembled.
func (u *uploader) killed() {
	content := goodSymbols(200_000) // 10 MB
	for round := range u.times(3, 20) {
		var open []net.Conn
		for i := range 4 {
			open = append(open, u.open(random(i, 1<<20), 1<<19))
		}
		half := content[:5<<20]
		require.Equal(u, http.StatusOK, u.chunks(half, content[5<<20:]))
		var client sync.WaitGroup
		client.Go(func() {
			body, _ := json.Marshal(map[string]any{sha1Of(content): map[string]any{"name": "x", "chunks": []string{sha1Of(half), sha1Of(content[5<<20:])}}})
			u.post(filesPath, u.token, "application/json", body)
		})
		time.Sleep(time.Duration(round*3) * time.Millisecond)
		u.collector.Kill()
		client.Wait()
		for _, connection := range open {
			_ = connection.Close()
		}
		u.start()
		for _, name := range u.stored("files") {
			got, err := os.ReadFile(filepath.Join(u.directory, "uploads", "files", name))
			require.NoError(u, err)
			assert.Equal(u, sha1Of(content), sha1Of(got), "a file is complete or missing")
		}
		for _, name := range u.stored("") {
			assert.NotContains(u, name, ".part-")
		}
	}
}

// fullDisk uploads until the disk is full, and goes on when it has space again.
func (u *uploader) fullDisk() {
	ballast := filepath.Join(u.directory, "ballast")
	require.NoError(u, os.WriteFile(ballast, make([]byte, 4<<20), 0o600))
	content := goodSymbols(10_000) // 500 kB
	require.Equal(u, "ok", u.upload(content).State)
	u.named()
	failed := 0
	for i := range 20 {
		switch status := u.chunks(random(i, 200_000)); status {
		case http.StatusOK:
		case http.StatusInsufficientStorage: // the client repeats it
			failed++
		default:
			u.Errorf("status %d", status)
		}
	}
	assert.Positive(u, failed)
	other := append(bytes.Clone(content), '\n')
	if u.chunks(other) == http.StatusOK {
		assert.Equal(u, "error", u.assemble(sha1Of(other), sha1Of(other)).State)
	}
	for _, f := range u.stored("") {
		assert.NotContains(u, f, ".part-")
	}
	u.named()
	_, text := u.post(chunksPath, u.token, "text/plain", nil)
	assert.NotContains(u, string(text), u.directory)
	require.NoError(u, os.Remove(ballast))
	require.Equal(u, "ok", u.upload(other).State)
}
