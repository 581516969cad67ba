// SPDX-License-Identifier: Apache-2.0

package native

import (
	"debug/elf"
	"debug/gosym"
	"fmt"
)

// goFunctions reads the function table of a Go program. It is in stripped programs too, because the runtime needs it.
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
