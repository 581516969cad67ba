// SPDX-License-Identifier: Apache-2.0

// Command pdata1_9 reads profiles with the collector's library of OTLP 1.9 and writes them as JSON:
//
//	cd internal/profiles/dialect/testdata/pdata1_9 && go run . ../encoded/*.pb
package main

import (
	"log"
	"os"
	"strings"

	"go.opentelemetry.io/collector/pdata/pprofile"
)

func main() {
	for _, path := range os.Args[1:] {
		if err := convert(path); err != nil {
			log.Fatal(err)
		}
	}
}

func convert(path string) error {
	encoded, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	p, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(encoded)
	if err != nil {
		return err
	}
	readable, err := new(pprofile.JSONMarshaler).MarshalProfiles(p)
	if err != nil {
		return err
	}
	return os.WriteFile(strings.TrimSuffix(path, ".pb")+".json", append(readable, '\n'), 0o644)
}
