// SPDX-License-Identifier: Apache-2.0

package stacktext

import "strings"

// parseNative reads backtraces of Rust, of Boost and std::stacktrace, of GDB and the sanitizers,
// and of backtrace_symbols:
//
//	thread 'main' panicked at src/main.rs:15:69:
//	no stock
//	stack backtrace:
//	   0: shop::main
//	             at ./src/main.rs:29:18
//	   1:     0x559a2d73af5e - main
//
//	 0# shop::checkout(int) at /app/shop.cpp:24
//	#1  0x0000555555560650 in shop::checkout (order=1) at shop.cpp:24
//	./shop(_ZN4shop8checkoutEv+0x59) [0x55d961900650]
//
// Only the last numbered run is read as frames: anyhow numbers causes before the frames.
func parseNative(text string) *node {
	p := nativeParser{lines: lines{text: text}, node: &node{}}
	for line, ok := p.line(); ok; line, ok = p.line() {
		p.read(strings.TrimLeft(line, " \t"))
	}
	if !p.placed { // otherwise, any numbered list would match
		return nil
	}
	return p.node
}

type nativeParser struct {
	lines
	*node
	message int    // start of the message of a panic; 0 = none
	next    uint32 // number of the next frame
	rust    bool   // the position of the last frame may be on the next line
	placed  bool   // a frame has a position, a binary or an address
	unwound bool   // the frames that handle the panic have been removed
}

func (p *nativeParser) read(line string) {
	if place, found := strings.CutPrefix(line, "at "); found && p.rust {
		p.rust = false
		p.setPlace(place)
		return
	}
	p.rust = false
	number, rest, separator := cutFrameNumber(line)
	switch separator {
	case ':':
		p.rust = p.add(rustFrame(rest), number)
	case '#':
		p.add(boostFrame(rest), number)
	case ' ':
		p.add(debuggerFrame(rest), number)
	default:
		if f, ok := symbolFrame(line); ok {
			p.add(f, p.next)
		} else {
			p.readPanic(line)
		}
	}
}

// cutFrameNumber reads "1: ", "1# " and "#1 ", and returns the separator: a colon, a number sign or
// a space.
func cutFrameNumber(line string) (number uint32, rest string, separator byte) {
	digits, hashed := strings.CutPrefix(line, "#")
	end := 0
	for end < len(digits) && digits[end] >= '0' && digits[end] <= '9' {
		end++
	}
	number, ok := parseNumber(digits[:end])
	rest = digits[end:]
	switch {
	case !ok || rest == "":
		return 0, line, 0
	case hashed && rest[0] == ' ':
		return number, strings.TrimLeft(rest, " "), ' '
	case !hashed && len(rest) > 1 && rest[1] == ' ' && (rest[0] == ':' || rest[0] == '#'):
		return number, strings.TrimLeft(rest[1:], " "), rest[0]
	}
	return 0, line, 0
}

// add adds a frame with its number. Frame 0 begins a run. Frames inside the one that begins to
// unwind belong to the panic itself, and are removed.
func (p *nativeParser) add(f Frame, number uint32) bool {
	if number == 0 {
		p.stack.reset()
		p.next, p.placed, p.unwound = 0, false, false
	}
	if number != p.next {
		return false
	}
	p.next++
	if f == (Frame{}) { // Rust's "0x0 - <unknown>" at the end
		return false
	}
	p.placed = p.placed || f.Address != 0 || f.File != "" || f.Package != ""
	p.stack.add(f)
	if !p.unwound && strings.HasSuffix(f.Function, "rust_begin_unwind") {
		p.unwound = true
		p.stack.reset()
		return false
	}
	return true
}

// setPlace sets the position of the last frame, which Rust writes on its own line.
func (p *nativeParser) setPlace(place string) {
	f := p.stack.last()
	f.File, f.Line, f.Column = cutPosition(place)
	p.placed = true
}

// readPanic reads "thread 'main' panicked at src/main.rs:15:69:", the message after it, and the
// line after the message.
func (p *nativeParser) readPanic(line string) {
	switch {
	case p.message == 0 && strings.Contains(line, " panicked at "):
		p.Type, p.message = "panic", p.lines.next
	case p.message > 0 && p.Message == "" && line == "stack backtrace:":
		p.Message = strings.TrimRight(p.text[p.message:p.start], "\r\n")
	}
}

// rustFrame reads "shop::main" or "0x559a2d73af5e - shop::main::h4ccbb331a5c54ba6".
func rustFrame(text string) (f Frame) {
	if address, symbol, found := strings.Cut(text, " - "); found {
		if number, ok := parseAddress(address); ok || address == "0x0" {
			f.Address, text = number, symbol
		}
	}
	if text != "<unknown>" {
		f.Function = withoutHashes(text)
	}
	return f
}

// withoutHashes removes parts of a symbol that differ between builds: its hash, and the
// disambiguator of its crate.
//
//	shop::main::h4ccbb331a5c54ba6        →  shop::main
//	core[c1f1a4ba060b9bfa]::fmt::write   →  core::fmt::write
func withoutHashes(symbol string) string {
	if i := len(symbol) - len("::h0123456789abcdef"); i > 0 && strings.HasPrefix(symbol[i:], "::h") && isHash(symbol[i+3:]) {
		symbol = symbol[:i]
	}
	if !strings.Contains(symbol, "[") {
		return symbol
	}
	var clean strings.Builder
	for {
		before, rest, found := strings.Cut(symbol, "[")
		clean.WriteString(before)
		if !found {
			return clean.String()
		}
		if len(rest) > 16 && rest[16] == ']' && isHash(rest[:16]) {
			symbol = rest[17:]
		} else {
			clean.WriteByte('[')
			symbol = rest
		}
	}
}

func isHash(text string) bool {
	return strings.Trim(text, "0123456789abcdef") == ""
}

// boostFrame reads "shop::checkout(int) at /app/shop.cpp:24", also with " in ./shop" or "
// [0x55d961900650]".
func boostFrame(text string) (f Frame) {
	if rest, address, found := cutLast(strings.TrimSuffix(text, "]"), " [0x"); found {
		if number, ok := parseAddress("0x" + address); ok {
			f.Address, text = number, rest
		}
	}
	if function, place, found := cutLast(text, " at "); found {
		text = function
		f.File, f.Line, _ = cutPosition(place)
	} else if function, binary, found := cutLast(text, " in "); found {
		text, f.Package = function, binary
	}
	if number, ok := parseAddress(text); ok {
		f.Address = number
	} else {
		f.Function = text
	}
	return f
}

// debuggerFrame reads frames of GDB and of the sanitizers:
//
//	0x0000555555560650 in shop::checkout (order=1) at shop.cpp:24
//	0x4a2b in shop::checkout(int) /app/shop.cpp:24:3
//	0x7f85f164524a in __libc_start_main (/lib/libc.so.6+0x2724a)
func debuggerFrame(text string) (f Frame) {
	if address, rest, found := strings.Cut(text, " in "); found {
		if number, ok := parseAddress(address); ok {
			f.Address, text = number, rest
		}
	}
	if function, place, found := cutLast(text, " at "); found {
		text = function
		f.File, f.Line, f.Column = cutPosition(place)
	} else if function, place, found := cutLast(text, " "); found {
		if binary, offset, found := cutLast(strings.Trim(place, "()"), "+0x"); found && offset != "" {
			text, f.Package = function, binary
		} else if file, line, column := cutPosition(place); line > 0 {
			text, f.File, f.Line, f.Column = function, file, line, column
		} else if function, from, found := cutLast(text, " from "); found {
			text, f.Package = function, from
		}
	}
	f.Function, _, _ = strings.Cut(text, " (") // GDB writes the values of arguments
	return f
}

// symbolFrame reads a line of backtrace_symbols: "./shop(main+0xa2) [0x55d961900719]".
func symbolFrame(line string) (f Frame, ok bool) {
	rest, address, found := cutLast(strings.TrimSuffix(line, "]"), " [")
	if !found || len(rest) == 0 {
		return f, false
	}
	if f.Address, ok = parseAddress(address); !ok {
		return f, false
	}
	binary, symbol, found := cutLast(strings.TrimSuffix(rest, ")"), "(")
	if found {
		f.Function, _, _ = cutLast(symbol, "+0x")
	}
	f.Package = binary
	return f, !strings.Contains(binary, " ")
}
