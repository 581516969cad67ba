// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// writePackage writes the Debian or RPM package that nfpm.yaml describes, and prints its path.
func (r *release) writePackage(format string, t target, binary string) error {
	values := map[string]string{"VERSION": r.version, "ARCH": t.arch, "BINARY": binary, "NOTICES": r.notices}
	config, err := nfpm.ParseFileWithEnvMapping(filepath.Join("linux", "nfpm.yaml"), func(name string) string { return values[name] })
	if err != nil {
		return err
	}
	info, err := config.Get(format)
	if err != nil {
		return err
	}
	info.MTime = r.time
	info = nfpm.WithDefaults(info)
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	path := filepath.Join(r.out, packager.ConventionalFileName(info))
	if err := writeFile(path, func(w io.Writer) error { return packager.Package(info, w) }); err != nil {
		return err
	}
	fmt.Println(path)
	return nil
}
