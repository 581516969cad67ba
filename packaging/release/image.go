// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"encoding/pem"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is the user and group of the process in the container, the "nonroot" of the distroless
// images.
const user = 65532

// writeImage writes the container image as an OCI image layout
// (https://github.com/opencontainers/image-spec/blob/main/image-layout.md), with one manifest per
// platform.
func (r *release) writeImage(binaries map[target]string) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, t := range slices.SortedFunc(maps.Keys(binaries), func(a, b target) int { return cmp.Compare(a.arch, b.arch) }) {
		image, err := r.image(t, binaries[t])
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: t.os, Architecture: t.arch},
		}})
	}
	folder := filepath.Join(r.out, "image")
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	_, err := layout.Write(folder, index)
	return err
}

// image returns the image of a platform: one layer with the collector, its licenses, a
// configuration and the certificates of public authorities. There is no shell, package manager or
// library.
func (r *release) image(t target, binary string) (v1.Image, error) {
	var files bytes.Buffer
	if err := writeTar(&files, r.time, []entry{
		{name: "etc/", mode: 0o755},
		{name: "etc/otelcol-sentry/", mode: 0o755},
		{name: "etc/otelcol-sentry/config.yaml", source: filepath.Join("image", "config.yaml"), mode: 0o644},
		{name: "etc/ssl/", mode: 0o755},
		{name: "etc/ssl/certs/", mode: 0o755},
		{name: "etc/ssl/certs/ca-certificates.crt", body: rootCertificates(), mode: 0o644},
		{name: "licenses/", mode: 0o755},
		{name: "licenses/LICENSE", source: filepath.Join(top, "LICENSE"), mode: 0o644},
		{name: "licenses/" + noticesFile, source: r.notices, mode: 0o644},
		{name: "otelcol-sentry", source: binary, mode: 0o755},
		{name: "tmp/", mode: 0o1777},
		{name: "var/", mode: 0o755},
		{name: "var/lib/", mode: 0o755},
		{name: "var/lib/otelcol-sentry/", mode: 0o700, owner: user}, // a new volume gets this owner
	}); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), layer)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = t.os, t.arch, v1.Time{Time: r.time}
	config.Config = v1.Config{
		User:         "65532:65532",
		Entrypoint:   []string{"/otelcol-sentry", "--feature-gates=service.profilesSupport"},
		Cmd:          []string{"--config=/etc/otelcol-sentry/config.yaml"},
		ExposedPorts: map[string]struct{}{"4317/tcp": {}, "4318/tcp": {}, "4319/tcp": {}, "4321/tcp": {}, "8888/tcp": {}, "13133/tcp": {}},
		Volumes:      map[string]struct{}{"/var/lib/otelcol-sentry": {}},
		Labels: map[string]string{
			"org.opencontainers.image.title":    "otelcol-sentry",
			"org.opencontainers.image.version":  r.version,
			"org.opencontainers.image.source":   "https://" + ownModule,
			"org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	return mutate.ConfigFile(image, config)
}

// rootCertificates returns Mozilla's list, except authorities whose newer certificates are
// distrusted: a PEM file cannot say so.
func rootCertificates() []byte {
	var all bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&all, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a buffer has no errors
		}
	}
	return all.Bytes()
}
