// SPDX-License-Identifier: Apache-2.0

package debugid

import (
	"archive/tar"
	"bufio"
	"cmp"
	"compress/gzip"
	"debug/macho"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

const (
	// maxExpanded bounds the inflated size of an archive: the symbols of the largest apps have a
	// gigabyte.
	maxExpanded = 2 << 30

	// maxRatio bounds the compression ratio: debug symbols shrink to a third, and inflating two
	// megabytes to two gigabytes would take seconds of CPU time.
	maxRatio = 100

	// maxEntries bounds the entries of an archive: a dSYM has five, an app with its frameworks some
	// hundred.
	maxEntries = 10_000

	// maxIDs bounds the debug IDs of one archive: frameworks times architectures.
	maxIDs = 1024

	// maxSlices bounds the slices of a fat file: fewer architectures exist.
	maxSlices = 16

	// maxLoadCommands bounds the load commands, in bytes; those of an app have some kilobytes.
	maxLoadCommands = 1 << 20

	loadUUID = 0x1b // LC_UUID
)

// ErrTooLarge is the error of an archive that expands to more than real dSYMs do.
var ErrTooLarge = errors.New("the archive is too large, or has too many entries or UUIDs")

// DSYM returns the UUIDs of an archive (.tgz) of dSYM bundles, one for each architecture of each
// binary, or those of a single binary.
func DSYM(file io.Reader) (ids []string, err error) {
	counted := &counter{from: file}
	in := bufio.NewReader(counted)
	if magic, _ := in.Peek(2); len(magic) < 2 || magic[0] != 0x1f || magic[1] != 0x8b {
		return machO(in)
	}
	inflated, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	archive := tar.NewReader(&capped{from: inflated, packed: counted})
	binaries := &capped{from: archive, packed: counted}
	err = eachBinary(archive, func() error {
		found, err := machO(bufio.NewReader(binaries))
		if err != nil {
			return err
		}
		for _, id := range found {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		if len(ids) > maxIDs {
			return ErrTooLarge
		}
		return nil
	})
	if err == nil && len(ids) == 0 {
		err = ErrNone
	}
	if err != nil {
		return nil, err
	}
	return ids, nil
}

// File is a file that ExtractDSYM writes.
type File interface {
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
}

// ExtractDSYM writes the binary with a UUID to a file. from is an archive of dSYM bundles. It
// writes at most maxRatio times the size of the archive: holes of sparse entries take no space in
// it.
func ExtractDSYM(to File, from io.Reader, id string) error {
	counted := &counter{from: from}
	inflated, err := gzip.NewReader(bufio.NewReader(counted))
	if err != nil {
		return err
	}
	archive := tar.NewReader(&capped{from: inflated, packed: counted})
	binaries := &capped{from: archive, packed: counted}
	errFound := errors.New("found")
	err = eachBinary(archive, func() error {
		if err := to.Truncate(0); err != nil {
			return err
		}
		size, err := io.Copy(io.NewOffsetWriter(to, 0), binaries)
		if err != nil {
			return err
		}
		if ids, err := machO(bufio.NewReader(io.NewSectionReader(to, 0, size))); err != nil || !slices.Contains(ids, id) {
			return err
		}
		return errFound
	})
	switch {
	case errors.Is(err, errFound):
		return nil
	case err == nil:
		return ErrNone
	}
	return err
}

// eachBinary visits the binaries of bundles.
func eachBinary(archive *tar.Reader, visit func() error) error {
	for range maxEntries {
		entry, err := archive.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case !isBinary(entry):
			continue
		}
		if err := visit(); err != nil {
			return err
		}
	}
	return ErrTooLarge
}

// isBinary reports whether an entry is the binary of a bundle. macOS adds a file "._x" with
// attributes for each x.
func isBinary(entry *tar.Header) bool {
	folder, name := path.Split(entry.Name)
	return entry.Typeflag == tar.TypeReg && strings.HasSuffix(folder, "/Contents/Resources/DWARF/") && !strings.HasPrefix(name, "._")
}

// counter counts the bytes that are read.
type counter struct {
	from io.Reader
	n    int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	return n, err
}

// capped fails after maxExpanded bytes, or after maxRatio times the packed size that has been read,
// where a LimitReader would report the end of the file. It limits what is inflated, and the content
// of entries.
type capped struct {
	from   io.Reader
	packed *counter
	n      int64
}

func (c *capped) Read(p []byte) (int, error) {
	left := min(maxExpanded, maxRatio*c.packed.n) - c.n
	if left <= 0 {
		return 0, ErrTooLarge
	}
	n, err := c.from.Read(p[:min(int64(len(p)), left)])
	c.n += int64(n)
	return n, err
}

// machO returns the UUID of a Mach-O file, or of each architecture of a fat file.
func machO(file *bufio.Reader) ([]string, error) {
	magic, err := file.Peek(4)
	if err != nil || binary.BigEndian.Uint32(magic) != macho.MagicFat {
		id, _, err := machOSlice(file)
		if err != nil {
			return nil, err
		}
		return []string{id}, nil
	}
	var head struct{ Magic, Slices uint32 }
	if err := binary.Read(file, binary.BigEndian, &head); err != nil {
		return nil, err
	}
	if head.Slices == 0 || head.Slices > maxSlices {
		return nil, fmt.Errorf("a fat file of %d architectures", head.Slices)
	}
	all := make([]macho.FatArchHeader, head.Slices)
	if err := binary.Read(file, binary.BigEndian, all); err != nil {
		return nil, err
	}
	at := int64(8 + binary.Size(all))
	slices.SortFunc(all, func(a, b macho.FatArchHeader) int { return cmp.Compare(a.Offset, b.Offset) })
	var ids []string
	for _, slice := range all {
		skip := int64(slice.Offset) - at
		if skip < 0 {
			return nil, errors.New("a fat file whose parts overlap")
		}
		if _, err := io.CopyN(io.Discard, file, skip); err != nil {
			return nil, err
		}
		id, n, err := machOSlice(file)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
		at = int64(slice.Offset) + n
	}
	return ids, nil
}

// machOSlice reads the header and load commands of one architecture. n is the number of bytes read.
func machOSlice(file io.Reader) (id string, n int64, err error) {
	magic := make([]byte, 4)
	if _, err := io.ReadFull(file, magic); err != nil {
		return "", 0, err
	}
	var order binary.ByteOrder = binary.LittleEndian
	if magic[0] == 0xfe { // big-endian: 0xfeedface, 0xfeedfacf
		order = binary.BigEndian
	}
	rest := 28 - 4 // cputype, cpusubtype, filetype, ncmds, sizeofcmds, flags
	switch order.Uint32(magic) {
	case macho.Magic32:
	case macho.Magic64:
		rest += 4
	default:
		return "", 0, errors.New("no Mach-O file")
	}
	header := make([]byte, rest)
	if _, err := io.ReadFull(file, header); err != nil {
		return "", 0, err
	}
	size := order.Uint32(header[16:])
	if size > maxLoadCommands {
		return "", 0, fmt.Errorf("Mach-O load commands of %d bytes", size)
	}
	commands := make([]byte, size)
	if _, err := io.ReadFull(file, commands); err != nil {
		return "", 0, err
	}
	n = int64(4 + rest + len(commands))
	for len(commands) >= 8 {
		command, size := order.Uint32(commands), order.Uint32(commands[4:])
		if size < 8 || int64(size) > int64(len(commands)) {
			return "", 0, fmt.Errorf("a Mach-O load command of %d bytes", size)
		}
		if command == loadUUID && size >= 24 {
			return hex.EncodeToString(commands[8:24]), n, nil
		}
		commands = commands[size:]
	}
	return "", 0, ErrNone
}
