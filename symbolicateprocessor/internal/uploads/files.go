// SPDX-License-Identifier: Apache-2.0

package uploads

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"

	"github.com/google/uuid"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/native"
)

// file is a native file or an R8 mapping to assemble.
type file struct {
	Name   string   `json:"name"`
	Chunks []string `json:"chunks"`
}

// answer states whether a file is stored. The field dif is set if the state is ok.
type answer struct {
	State   state    `json:"state"`
	Missing []string `json:"missingChunks"`
	Detail  string   `json:"detail,omitempty"`
	File    *stored  `json:"dif,omitempty"`
}

// stored describes a file to the client, which prints it.
type stored struct {
	ID      string              `json:"id"`
	UUID    string              `json:"uuid"`
	DebugID string              `json:"debugId"`
	CPU     string              `json:"cpuName"`
	Name    string              `json:"objectName"`
	Type    string              `json:"symbolType"`
	SHA1    string              `json:"sha1"`
	Headers map[string]string   `json:"headers"`
	Data    map[string][]string `json:"data"`
}

// maxFiles is the maximum number of files in a request: sentry-cli asks for all files of a build at
// once.
const maxFiles = 10_000

// assembleFiles assembles native files and R8 mappings from their chunks.
func (s *Server) assembleFiles(w http.ResponseWriter, r *http.Request) {
	var files map[string]file
	done, ok := s.read(w, r, &files)
	defer done()
	if !ok {
		return
	}
	if len(files) > maxFiles {
		s.Count(Rejected)
		reject(w, http.StatusBadRequest, fmt.Sprintf("%d files, more than %d", len(files), maxFiles))
		return
	}
	leave, ok := enter(r.Context(), s.running)
	defer leave()
	if !ok {
		return
	}
	answers := map[string]answer{}
	for sum, f := range files {
		answers[sum] = s.file(r.Context(), sum, f)
	}
	respond(w, http.StatusOK, answers)
}

func (s *Server) file(ctx context.Context, sum string, f file) answer {
	name, limit := "symbols", s.MaxNativeBytes
	id := mappingID(f.Name)
	if id != uuid.Nil {
		name, limit = id.String()+".txt", s.MaxFileBytes
	}
	name = "files/" + sum + "/" + name
	if !isSHA1(sum) {
		return s.failed(errors.New("the checksum is not a SHA-1"))
	}
	_, err := s.store.Root.Stat(name)
	known := err == nil
	if !known {
		if missing := s.missing(f.Chunks); len(missing) > 0 || len(f.Chunks) == 0 {
			return answer{State: stateNotFound, Missing: missing}
		}
		if err := s.assemble(ctx, name, sum, f.Chunks, limit); err != nil {
			return s.failed(err)
		}
	}
	description, err := s.describe(name, id)
	if err != nil {
		_ = s.store.Remove(name)
		return s.failed(err)
	}
	description.SHA1, description.ID, description.Name = sum, sum, path.Base(f.Name)
	if known {
		s.Count(Known)
	} else {
		s.Count(Stored)
		s.Stored()
	}
	return answer{State: stateOK, Missing: []string{}, File: &description}
}

func (s *Server) failed(err error) answer {
	s.Count(outcome(err))
	return answer{State: stateError, Missing: []string{}, Detail: err.Error()}
}

// mappingID returns the UUID of an R8 mapping: sentry-cli names it /proguard/<uuid>.txt.
func mappingID(name string) uuid.UUID {
	text, ok := strings.CutPrefix(strings.TrimSuffix(name, ".txt"), "/proguard/")
	if !ok {
		return uuid.Nil
	}
	id, _ := uuid.Parse(text)
	return id
}

// describe identifies a stored file. It fails for a file that symbolication cannot use.
func (s *Server) describe(name string, mapping uuid.UUID) (stored, error) {
	if mapping != uuid.Nil {
		return stored{UUID: mapping.String(), DebugID: mapping.String(), CPU: "any", Type: "proguard", Data: map[string][]string{"features": {"mapping"}}}, nil
	}
	content, err := s.store.Root.Open(name)
	if err != nil {
		return stored{}, err
	}
	defer content.Close()
	info, err := content.Stat()
	if err != nil {
		return stored{}, err
	}
	objects, err := native.Identify(content, info.Size())
	switch {
	case err != nil:
		return stored{}, fmt.Errorf("the collector cannot read this file: %w", err)
	case objects[0].ID == "":
		return stored{}, errors.New("the file has no build ID, so frames cannot refer to it")
	}
	o := objects[0]
	id, err := uuid.Parse(o.DebugID())
	if err != nil {
		return stored{}, fmt.Errorf("the debug ID of the file is invalid: %w", err)
	}
	features := []string{"symtab"}
	if o.Debug {
		features = append(features, "debug")
	}
	return stored{UUID: id.String(), DebugID: id.String(), CPU: o.Arch, Type: string(o.Format), Data: map[string][]string{"features": features}}, nil
}
