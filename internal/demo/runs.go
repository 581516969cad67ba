// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// loadRuns reads complete runs of SDKs: all requests that an application sent within seconds, with
// transactions and their profiles. The test cases are single, small requests; if a request is also
// a case, it is skipped.
func loadRuns(folder string) ([]recording, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.tar.gz"))
	if err != nil {
		return nil, err
	}
	var recordings []recording
	for _, file := range files {
		run, err := readRun(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		recordings = append(recordings, run...)
	}
	return recordings, nil
}

func readRun(file string) (run []recording, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	unzip, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	for archive := tar.NewReader(unzip); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return run, nil
		} else if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(archive)
		if err != nil {
			return nil, err
		}
		r, err := newRecording(strings.TrimSuffix(filepath.Base(file), ".tar.gz"), body)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", header.Name, err)
		}
		run = append(run, r)
	}
}
