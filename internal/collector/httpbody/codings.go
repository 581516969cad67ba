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

// Content codings that are decoded here, by the names that Coding gives them. "br" is what Sentry's python SDK prefers where the
// brotli module is installed, and confighttp has none.
const (
	Identity = ""
	Gzip     = "gzip"
	Deflate  = "deflate"
	Brotli   = "br"
	Zstd     = "zstd"
)

// Defaults are all of these.
var Defaults = []string{Identity, Gzip, Deflate, Brotli, Zstd}

// Foreign are those that confighttp decodes, and no SDK knows.
var Foreign = []string{"snappy", "x-snappy-framed", "lz4"}

// Coding gives the one name of a Content-Encoding. Content codings are case-insensitive, a list may name identity,
// old ruby SDKs send an empty one and java-android 2.0 sent "UTF-8": both mean none. What is left of a real list ("gzip,br")
// is a name that nobody knows.
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

// Known says whether compression_algorithms may name it.
func Known(name string) bool {
	_, ours := codings[Coding([]string{name})]
	return ours || name == Identity || slices.Contains(Foreign, name)
}

// LeaveEncoded has confighttp pass bodies of our codings on as they are: Body.Decode decodes them. There, the
// encoded body is complete before decoding begins, so that the decoded size, which most encodings tell, is known in time
// to read into memory of the right size; and a body that is too large is told from one that is broken.
func LeaveEncoded(algorithms []string) []confighttp.ToServerOption {
	var options []confighttp.ToServerOption
	for _, algorithm := range algorithms {
		name := Coding([]string{algorithm})
		if _, ours := codings[name]; ours || name == Identity {
			options = append(options, confighttp.WithDecoder(name, func(io.ReadCloser) (io.ReadCloser, error) {
				return nil, nil // "not encoded": the body stays
			}))
		}
	}
	return options
}

// Normalise lets confighttp find the decoder of any spelling. SentCodings returns what was sent.
func Normalise(next http.Handler) http.Handler {
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

// SentCodings returns the values of Content-Encoding as the client has sent them, if Normalise has changed them.
func SentCodings(req *http.Request) (sent []string, changed bool) {
	sent, changed = req.Context().Value(sentCodings{}).([]string)
	return sent, changed
}

// coding is a content coding with its pool of decoders: setting one up costs more than decoding a small body.
type coding struct {
	decoders sync.Pool
	size     func(encoded []byte) int64 // what the encoding says of the decoded size, -1 if nothing
	window   int64                      // bytes that a decoder holds at most, beside what it is given and gives
}

type decoder interface {
	io.Reader
	open(encoded []byte) error
	close() // lets go of what open was given
}

var codings = map[string]*coding{
	Gzip:    newCoding(gzipSize, flateWindow, func() decoder { return new(gzipDecoder) }),
	Deflate: newCoding(noSize, flateWindow, func() decoder { return new(deflateDecoder) }),
	Brotli:  newCoding(noSize, brotliWindow, func() decoder { return new(brotliDecoder) }),
	Zstd:    newCoding(zstdSize, maxZstdWindow, func() decoder { return new(zstdDecoder) }),
}

const (
	// flateWindow: RFC 1951 has 32 KiB, and tables come beside it.
	flateWindow = 64 << 10
	// MaxWindow is enough for that of brotli, the largest, and for the byte beyond the limit that each buffer of a body may have.
	MaxWindow = 16 << 20
	// brotliWindow is the largest of RFC 7932 (9.1); python encodes with 4 MiB.
	brotliWindow = 16<<20 - 16
	// maxZstdWindow is what RFC 8878 (3.1.1.1.2) recommends decoders to support, and what zstd uses up to level 19. A frame
	// may ask for terabytes.
	maxZstdWindow = 8 << 20
)

func newCoding(size func([]byte) int64, window int64, newDecoder func() decoder) *coding {
	return &coding{size: size, window: window, decoders: sync.Pool{New: func() any { return newDecoder() }}}
}

// decode appends the decoded bytes to out, at most limit of them: one more and the error is ErrTooLarge.
func (c *coding) decode(encoded []byte, out *Body, limit int64) error {
	return c.with(encoded, out.claim, func(d io.Reader) error {
		return out.fill(d, c.size(encoded), max(minBuffer, maxTrustedRatio*len(encoded)), limit)
	})
}

// begin appends limit bytes of the decoded to out, or as many as there are.
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

// with has a decoder of encoded, and its window, for the time of a call.
func (c *coding) with(encoded []byte, claim *Claim, use func(io.Reader) error) error {
	if err := claim.Acquire(c.window); err != nil {
		return err
	}
	defer claim.give(c.window)
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

// gzipSize reads the trailer: the size of the last member (real ones have one), modulo 2^32.
func gzipSize(encoded []byte) int64 {
	if len(encoded) < 4 {
		return -1
	}
	return int64(binary.LittleEndian.Uint32(encoded[len(encoded)-4:]))
}

// zstdSize reads the header of the first frame.
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

// deflateDecoder takes what HTTP calls deflate, which is the zlib format, and also the bare deflate that the name suggests
// and some clients send.
type deflateDecoder struct {
	io.Reader // one of the two below
	zlib      io.ReadCloser
	bare      io.ReadCloser
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
	case d.bare == nil:
		d.bare = flate.NewReader(&d.encoded)
		d.Reader = d.bare
	default:
		err = d.bare.(flate.Resetter).Reset(&d.encoded, nil)
		d.Reader = d.bare
	}
	return err
}

func (d *deflateDecoder) close() { d.encoded.Reset(nil) }

// brotliDecoder keeps its window between uses.
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
		// One at a time means without goroutines: nothing has to be stopped when the pool drops a decoder.
		d.Decoder, err = zstd.NewReader(&d.encoded, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxZstdWindow), zstd.WithDecodeBuffersBelow(0))
		return err
	}
	return d.Reset(&d.encoded)
}

func (d *zstdDecoder) close() { d.encoded.Reset(nil) }
