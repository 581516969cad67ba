// SPDX-License-Identifier: Apache-2.0

package native

import (
	"debug/elf"
	"debug/gosym"
	"encoding/binary"
	"fmt"
)

// goFunctions reads the function table of a Go program. It is in stripped programs too, because the
// runtime needs it.
func goFunctions(b *builder, in *input, file *elf.File) error {
	table, code := file.Section(".gopclntab"), file.Section(".text")
	if table == nil || code == nil {
		return nil
	}
	// gosym needs about ten bytes of memory per byte of the table.
	if err := in.allocate(min(table.FileSize, 1<<40)); err != nil {
		return err
	}
	content, err := elfSection(in, file, ".gopclntab")
	if err != nil {
		return err
	}
	if n := goFunctionCount(content); n > uint64(len(content))/minGoFunction {
		return fmt.Errorf("%w: .gopclntab has %d bytes and %d functions", ErrDamaged, len(content), n)
	}
	names, err := gosym.NewTable(nil, gosym.NewLineTable(content, code.Addr))
	if err != nil {
		return fmt.Errorf("%w: .gopclntab: %w", ErrDamaged, err)
	}
	for i := range names.Funcs {
		f := &names.Funcs[i]
		if f.End <= f.Entry || f.Sym == nil {
			continue
		}
		if err := b.addSymbol(f.Name, f.Entry, f.End-f.Entry); err != nil {
			return err
		}
		if source, _, _ := names.PCToLine(f.Entry); source != "" && b.isCode(f.Entry) {
			b.sites[len(b.sites)-1].file = b.ref(source)
		}
	}
	return nil
}

// minGoFunction is the minimum size of a function in the table: two offsets.
const minGoFunction = 8

// goFunctionCount returns the number of functions that the header states: gosym allocates memory
// for them.
func goFunctionCount(table []byte) uint64 {
	if len(table) < 16 {
		return 0
	}
	var order binary.ByteOrder = binary.LittleEndian
	if table[0] == 0xff { // the magic is 0xfffffffb, or less for newer versions
		order = binary.BigEndian
	}
	if table[7] == 4 {
		return uint64(order.Uint32(table[8:]))
	}
	return order.Uint64(table[8:])
}
