// SPDX-License-Identifier: Apache-2.0

package httpbody

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"go.opentelemetry.io/collector/config/confighttp"
)

// Content codings that this package decodes, by their names from Coding. Sentry's Python SDK
// prefers "br" if the brotli module is installed; confighttp does not support it.
const (
	Identity = ""
	Gzip     = "gzip"
	Deflate  = "deflate"
	Brotli   = "br"
	Zstd     = "zstd"
)

// Defaults are all codings that this package decodes.
var Defaults = []string{Identity, Gzip, Deflate, Brotli, Zstd}

// Foreign are the codings that confighttp decodes. No SDK uses them.
var Foreign = []string{"snappy", "x-snappy-framed", "lz4"}

// Coding returns the canonical name of a Content-Encoding. Content codings are case-insensitive and
// lists may contain identity. Old Ruby SDKs send an empty one and java-android 2.0 sent "UTF-8";
// both mean identity. A list of several codings ("gzip,br") has an unknown name.
func Coding(headers []string) string {
	var codings []string
	for coding := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		switch coding = strings.ToLower(strings.TrimSpace(coding)); coding {
		case "", "identity", "utf-8":
		case "x-gzip":
			codings = append(codings, Gzip)
		case "zlib":
			codings = append(codings, Deflate)
		default:
			codings = append(codings, coding)
		}
	}
	return strings.Join(codings, ",")
}

// Known reports whether a coding is valid in compression_algorithms.
func Known(name string) bool {
	_, ours := codings[Coding([]string{name})]
	return ours || name == Identity || slices.Contains(Foreign, name)
}

// LeaveEncoded returns options that make confighttp forward encoded bodies of our codings:
// Body.Decode decodes them. It has the complete encoded body, and thus the decoded size that most
// codings state, to allocate a buffer of the right size. It also distinguishes bodies that are too
// large from invalid ones.
func LeaveEncoded(algorithms []string) []confighttp.ToServerOption {
	var options []confighttp.ToServerOption
	for _, algorithm := range algorithms {
		name := Coding([]string{algorithm})
		if _, ours := codings[name]; ours || name == Identity {
			options = append(options, confighttp.WithDecoder(name, func(io.ReadCloser) (io.ReadCloser, error) {
				return nil, nil // not encoded: keep the body
			}))
		}
	}
	return options
}

// Normalize replaces a Content-Encoding by its canonical name, for the lookup of decoders in
// confighttp. SentCodings returns the original.
func Normalize(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		sent := req.Header.Values("Content-Encoding")
		if name := Coding(sent); len(sent) > 1 || len(sent) == 1 && sent[0] != name || len(sent) == 1 && name == Identity {
			req = req.WithContext(context.WithValue(req.Context(), sentCodings{}, sent))
			if name == Identity {
				req.Header.Del("Content-Encoding")
			} else {
				req.Header.Set("Content-Encoding", name)
			}
		}
		next.ServeHTTP(w, req)
	})
}

type sentCodings struct{}

// SentCodings returns the original values of Content-Encoding, if Normalize has changed them.
func SentCodings(req *http.Request) (sent []string, changed bool) {
	sent, changed = req.Context().Value(sentCodings{}).([]string)
	return sent, changed
}

// coding is a content coding with a pool of decoders: creating a decoder takes longer than decoding
// a small body.
type coding struct {
	decoders sync.Pool
	size     func(encoded []byte) int64 // stated decoded size, or -1
	window   int64                      // maximum memory of a decoder, without input and output
}

type decoder interface {
	io.Reader
	open(encoded []byte) error
	close() // drops the reference to the encoded bytes
}

var codings = map[string]*coding{
	Gzip:    newCoding(gzipSize, flateWindow, func() decoder { return new(gzipDecoder) }),
	Deflate: newCoding(noSize, flateWindow, func() decoder { return new(deflateDecoder) }),
	Brotli:  newCoding(noSize, brotliWindow, func() decoder { return new(brotliDecoder) }),
	Zstd:    newCoding(zstdSize, maxZstdWindow, func() decoder { return new(zstdDecoder) }),
}

const (
	// flateWindow is the window of RFC 1951, 32 KiB, and tables.
	flateWindow = 64 << 10
	// MaxWindow is enough for the largest window, that of brotli, and for the byte beyond the limit
	// in each buffer of a body.
	MaxWindow = 16 << 20
	// brotliWindow is the maximum of RFC 7932 (9.1); Python encodes with 4 MiB.
	brotliWindow = 16<<20 - 16
	// maxZstdWindow is the window size that RFC 8878 (3.1.1.1.2) recommends supporting, and that
	// zstd uses up to level 19. A frame may state terabytes.
	maxZstdWindow = 8 << 20
)

func newCoding(size func([]byte) int64, window int64, newDecoder func() decoder) *coding {
	return &coding{size: size, window: window, decoders: sync.Pool{New: func() any { return newDecoder() }}}
}

// decode appends the decoded bytes to out. If there are more than limit bytes, the error is
// ErrTooLarge.
func (c *coding) decode(encoded []byte, out *Body, limit int64) error {
	return c.with(encoded, out.claim, func(d io.Reader) error {
		return out.fill(d, c.size(encoded), max(minBuffer, maxTrustedRatio*len(encoded)), limit)
	})
}

// begin appends the first decoded bytes to out, up to limit.
func (c *coding) begin(encoded []byte, out *Body, limit int) error {
	return c.with(encoded, out.claim, func(d io.Reader) error {
		if err := out.reserve(limit); err != nil {
			return err
		}
		n, err := io.ReadFull(d, out.Data[:limit])
		out.Data = out.Data[:n]
		if err == io.EOF {
			return nil
		}
		return err
	})
}

// with passes a decoder to use, and claims the window of the decoder during the call.
func (c *coding) with(encoded []byte, claim *Claim, use func(io.Reader) error) error {
	if err := claim.Acquire(c.window); err != nil {
		return err
	}
	defer claim.shrinkBy(c.window)
	d := c.decoders.Get().(decoder)
	defer func() {
		d.close()
		c.decoders.Put(d)
	}()
	if err := d.open(encoded); err != nil {
		return err
	}
	return use(d)
}

func noSize([]byte) int64 { return -1 }

// gzipSize returns the size in the trailer: that of the last member, modulo 2^32. Real bodies have
// one member.
func gzipSize(encoded []byte) int64 {
	if len(encoded) < 4 {
		return -1
	}
	return int64(binary.LittleEndian.Uint32(encoded[len(encoded)-4:]))
}

// zstdSize returns the size in the header of the first frame.
func zstdSize(encoded []byte) int64 {
	var header zstd.Header
	if header.Decode(encoded) != nil || !header.HasFCS || header.FrameContentSize >= 1<<62 {
		return -1
	}
	return int64(header.FrameContentSize)
}

type gzipDecoder struct {
	gzip.Reader
	encoded bytes.Reader
}

func (d *gzipDecoder) open(encoded []byte) error {
	d.encoded.Reset(encoded)
	return d.Reset(&d.encoded)
}

func (d *gzipDecoder) close() { d.encoded.Reset(nil) }

// deflateDecoder decodes the zlib format, which HTTP calls deflate, and raw deflate, which some
// clients send.
type deflateDecoder struct {
	io.Reader // zlib or raw
	zlib      io.ReadCloser
	raw       io.ReadCloser
	encoded   bytes.Reader
}

func (d *deflateDecoder) open(encoded []byte) (err error) {
	d.encoded.Reset(encoded)
	switch isZlib := len(encoded) >= 2 && encoded[0]&0x0f == 8 && binary.BigEndian.Uint16(encoded)%31 == 0; {
	case isZlib && d.zlib == nil:
		d.zlib, err = zlib.NewReader(&d.encoded)
		d.Reader = d.zlib
	case isZlib:
		err = d.zlib.(zlib.Resetter).Reset(&d.encoded, nil)
		d.Reader = d.zlib
	case d.raw == nil:
		d.raw = flate.NewReader(&d.encoded)
		d.Reader = d.raw
	default:
		err = d.raw.(flate.Resetter).Reset(&d.encoded, nil)
		d.Reader = d.raw
	}
	return err
}

func (d *deflateDecoder) close() { d.encoded.Reset(nil) }

// brotliDecoder reuses its window.
type brotliDecoder struct {
	brotli.Reader
	encoded bytes.Reader
}

func (d *brotliDecoder) open(encoded []byte) error {
	d.encoded.Reset(encoded)
	return d.Reset(&d.encoded)
}

func (d *brotliDecoder) close() { d.encoded.Reset(nil) }

type zstdDecoder struct {
	*zstd.Decoder
	encoded bytes.Reader
}

func (d *zstdDecoder) open(encoded []byte) (err error) {
	d.encoded.Reset(encoded)
	if d.Decoder == nil {
		// A concurrency of 1 needs no goroutines, so that the pool can drop a decoder.
		d.Decoder, err = zstd.NewReader(&d.encoded, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxZstdWindow), zstd.WithDecodeBuffersBelow(0))
		return err
	}
	return d.Reset(&d.encoded)
}

func (d *zstdDecoder) close() { d.encoded.Reset(nil) }
