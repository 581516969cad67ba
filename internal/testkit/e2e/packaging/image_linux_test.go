// SPDX-License-Identifier: Apache-2.0

package packaging

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// TestImage unpacks the container image and starts it as a container engine does: in its own root
// directory, as the user of the image, without privileges. The collector becomes healthy, and a
// profile reaches the viewer.
func TestImage(t *testing.T) {
	needRoot(t)
	binary := harness.Binary(t)
	image := openImage(t, build(t, "image", binary))
	require.Equal(t, "65532:65532", image.config.User)

	root := debianRoot(t.TempDir())
	require.NoError(t, os.Chmod(string(root), 0o755))
	size := image.unpack(t, string(root))
	t.Logf("the image has %.1f MB, %.1f MB compressed", float64(size)/1e6, float64(image.size)/1e6)
	assert.Equal(t, []string{"etc/otelcol-sentry/config.yaml", "etc/ssl/certs/ca-certificates.crt", "licenses/LICENSE",
		"licenses/THIRD-PARTY-NOTICES.txt", "otelcol-sentry"}, root.files(t), "no shell, no library")
	assert.Contains(t, read(t, root, "licenses/THIRD-PARTY-NOTICES.txt"), linkedModule)
	assert.True(t, x509.NewCertPool().AppendCertsFromPEM([]byte(read(t, root, "etc/ssl/certs/ca-certificates.crt"))))
	mountProc(t, root)

	const config = "etc/otelcol-sentry/config.yaml" // other ports, because the test has no network of its own
	addresses := map[string]string{}
	for _, port := range []string{"4317", "4318", "4319", "4321", "13133"} {
		addresses[port] = harness.FreeAddress(t)
		edit(t, root, config, "endpoint: 0.0.0.0:"+port, "endpoint: "+addresses[port])
	}
	_, metrics, _ := strings.Cut(harness.FreeAddress(t), ":")
	edit(t, root, config, "port: 8888", "port: "+metrics)

	command := slices.Concat(image.config.Entrypoint, image.config.Cmd)
	process := &exec.Cmd{Path: command[0], Args: command, Dir: "/", Env: append(image.config.Env, "GOMEMLIMIT=1024MiB"), SysProcAttr: &syscall.SysProcAttr{
		Chroot: string(root), Credential: &syscall.Credential{Uid: 65532, Gid: 65532},
	}}
	c := harness.StartCommand(t, process, addresses["4319"])
	require.NoError(t, c.WaitReady(), "%s", c.Log.Tail())
	response, err := http.Get("http://" + addresses["13133"])
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, http.StatusOK, response.StatusCode, "the health endpoint")
	require.Equal(t, http.StatusOK, c.Send(t, harness.ItemRequest("profile", harness.ProfileV1(harness.NewID()))).Status)
	require.Eventually(t, func() bool { return profilesOnPage(t, addresses["4321"]) == 1 }, 30*time.Second, 50*time.Millisecond)
	c.Stop(t)
}

// linkedModule begins a line about one of the modules in the collector, whose licenses must
// accompany it.
const linkedModule = "\ngo.opentelemetry.io/collector/pdata v"

// mountProc mounts /proc, from which the memory limiter reads the limit of the container.
func mountProc(t *testing.T, root debianRoot) {
	require.NoError(t, os.Mkdir(root.path("proc"), 0o555))
	if err := syscall.Mount("/proc", root.path("proc"), "", syscall.MS_BIND, ""); err != nil {
		t.Skipf("the image is not started: no permission to mount /proc: %v", err)
	}
	t.Cleanup(func() { assert.NoError(t, syscall.Unmount(root.path("proc"), syscall.MNT_DETACH)) })
}

// ociImage is an image in an OCI image layout (https://github.com/opencontainers/image-spec).
type ociImage struct {
	folder string
	layers []ociDescriptor
	size   int64 // of the layers
	config struct {
		User                 string
		Entrypoint, Cmd, Env []string
	}
}

type ociDescriptor struct {
	MediaType string `json:"mediaType"`
	Digest    string `json:"digest"`
	Size      int64  `json:"size"`
}

// openImage reads the only image of a layout.
func openImage(t *testing.T, folder string) *ociImage {
	image := &ociImage{folder: folder}
	var version struct {
		ImageLayoutVersion string `json:"imageLayoutVersion"`
	}
	decodeFile(t, filepath.Join(folder, "oci-layout"), &version)
	require.Equal(t, "1.0.0", version.ImageLayoutVersion)
	var index struct {
		Manifests []ociDescriptor `json:"manifests"`
	}
	decodeFile(t, filepath.Join(folder, "index.json"), &index)
	require.Len(t, index.Manifests, 1)
	require.Equal(t, "application/vnd.oci.image.manifest.v1+json", index.Manifests[0].MediaType)
	var manifest struct {
		Config ociDescriptor   `json:"config"`
		Layers []ociDescriptor `json:"layers"`
	}
	decodeFile(t, image.blob(t, index.Manifests[0]), &manifest)
	require.NotEmpty(t, manifest.Layers)
	image.layers = manifest.Layers
	var config struct {
		OS     string `json:"os"`
		Config any    `json:"config"`
	}
	config.Config = &image.config
	decodeFile(t, image.blob(t, manifest.Config), &config)
	require.Equal(t, "linux", config.OS)
	for _, layer := range manifest.Layers {
		image.size += layer.Size
	}
	return image
}

// blob returns the path of a blob, after a check of its digest.
func (image *ociImage) blob(t *testing.T, d ociDescriptor) string {
	algorithm, digest, _ := strings.Cut(d.Digest, ":")
	path := filepath.Join(image.folder, "blobs", algorithm, digest)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Len(t, text, int(d.Size))
	require.Equal(t, digest, fmt.Sprintf("%x", sha256.Sum256(text)))
	return path
}

// unpack writes the files of all layers and returns their size.
func (image *ociImage) unpack(t *testing.T, root string) (size int64) {
	for _, layer := range image.layers {
		require.Equal(t, "application/vnd.oci.image.layer.v1.tar+gzip", layer.MediaType)
		file, err := os.Open(image.blob(t, layer))
		require.NoError(t, err)
		defer file.Close()
		uncompressed, err := gzip.NewReader(file)
		require.NoError(t, err)
		for files := tar.NewReader(uncompressed); ; {
			header, err := files.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			path := filepath.Join(root, header.Name)
			if header.Typeflag == tar.TypeDir {
				require.NoError(t, os.Mkdir(path, 0o700))
			} else {
				require.Equal(t, byte(tar.TypeReg), header.Typeflag, header.Name)
				body, err := io.ReadAll(files)
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(path, body, 0o600))
				size += header.Size
			}
			require.NoError(t, os.Chown(path, header.Uid, header.Gid))
			mode := fs.FileMode(header.Mode).Perm()
			if header.Mode&0o1000 != 0 {
				mode |= fs.ModeSticky
			}
			require.NoError(t, os.Chmod(path, mode))
		}
	}
	return size
}

func decodeFile(t *testing.T, path string, into any) {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into), path)
}
