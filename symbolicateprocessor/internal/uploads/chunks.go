// SPDX-License-Identifier: Apache-2.0

package uploads

import (
	"compress/gzip"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"mime/multipart"
	"net/http"
	"regexp"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/filestore"
)

// ChunksFolder contains uploaded chunks, which are not symbol files yet.
const ChunksFolder = "chunks"

var isSHA1 = regexp.MustCompile(`^[0-9a-f]{40}$`).MatchString

func chunkName(sum string) string { return ChunksFolder + "/" + sum[:2] + "/" + sum }

// chunks stores the chunks of a request.
func (s *Server) chunks(w http.ResponseWriter, r *http.Request) {
	leave, ok := enter(r.Context(), s.running)
	defer leave()
	if !ok {
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, MaxBodyBytes)
	parts, err := r.MultipartReader()
	if err == nil {
		err = s.storeChunks(parts)
	}
	if err != nil {
		status, o := http.StatusBadRequest, outcome(err)
		if o == Failed {
			status = http.StatusInsufficientStorage // the only one after which sentry-cli repeats chunks
		}
		s.Count(o)
		reject(w, status, err.Error())
		return
	}
	respond(w, http.StatusOK, struct{}{})
}

func (s *Server) storeChunks(parts *multipart.Reader) error {
	for range chunksPerRequest {
		part, err := parts.NextRawPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("invalid parts: %w", err)
		}
		if err := s.storeChunk(part); err != nil {
			return fmt.Errorf("chunk %q: %w", part.FileName(), err)
		}
	}
	if _, err := parts.NextRawPart(); err != io.EOF {
		return fmt.Errorf("more than %d chunks", chunksPerRequest)
	}
	return nil
}

func (s *Server) storeChunk(part *multipart.Part) error {
	sum := part.FileName()
	if !isSHA1(sum) {
		return errors.New("the name is not a SHA-1")
	}
	var content io.Reader = part
	if part.FormName() == "file_gzip" {
		inflated, err := gzip.NewReader(part)
		if err != nil {
			return err
		}
		content = inflated
	}
	_, err := s.save(chunkName(sum), checked(content, sum), chunkSize)
	return err
}

// checked returns a reader of content that fails at the end if the SHA-1 differs.
func checked(content io.Reader, sum string) io.Reader {
	h := sha1.New()
	return &checkedReader{io.TeeReader(content, h), h, sum}
}

type checkedReader struct {
	io.Reader
	hash hash.Hash
	sum  string
}

func (c *checkedReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if err == io.EOF && hex.EncodeToString(c.hash.Sum(nil)) != c.sum {
		err = errors.New("the SHA-1 of the content differs")
	}
	return n, err
}

// state is the state of a file for the client.
type state string

const (
	stateOK       state = "ok"
	stateError    state = "error"
	stateNotFound state = "not_found"
)

// missing returns the chunks that the client has to upload.
func (s *Server) missing(chunks []string) []string {
	missing := []string{} // [] in JSON, not null
	for _, sum := range chunks {
		if !isSHA1(sum) {
			continue // assembling fails
		}
		if _, err := s.store.Root.Stat(chunkName(sum)); err != nil {
			missing = append(missing, sum)
		}
	}
	return missing
}

// assemble concatenates chunks into a file, and removes the chunks.
func (s *Server) assemble(ctx context.Context, name, sum string, chunks []string, limit int64) error {
	if !isSHA1(sum) {
		return errors.New("the checksum is not a SHA-1")
	}
	for _, chunk := range chunks {
		if !isSHA1(chunk) {
			return errors.New("the checksum of a chunk is not a SHA-1")
		}
	}
	content := &chunkReader{store: s.store, chunks: chunks}
	defer content.close()
	if _, err := s.save(name, checked(filestore.WhileConnected(ctx, content), sum), limit); err != nil {
		return err
	}
	for _, chunk := range chunks {
		_ = s.store.Remove(chunkName(chunk)) // fails if assembling another file has removed a shared chunk
	}
	return nil
}

// chunkReader reads chunks one after the other.
type chunkReader struct {
	store  *filestore.Store
	chunks []string
	open   io.ReadCloser
}

func (c *chunkReader) Read(p []byte) (int, error) {
	for {
		if c.open == nil {
			if len(c.chunks) == 0 {
				return 0, io.EOF
			}
			file, err := c.store.Root.Open(chunkName(c.chunks[0]))
			if err != nil {
				return 0, err
			}
			c.open, c.chunks = file, c.chunks[1:]
		}
		n, err := c.open.Read(p)
		if err != io.EOF {
			return n, err
		}
		c.close()
		if n > 0 {
			return n, nil
		}
	}
}

func (c *chunkReader) close() {
	if c.open != nil {
		_ = c.open.Close()
		c.open = nil
	}
}
