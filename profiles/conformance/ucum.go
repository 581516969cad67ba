// SPDX-License-Identifier: Apache-2.0

package conformance

import "strings"

// isUCUM reports whether a unit is valid in UCUM's case-sensitive form (https://ucum.org/ucum). It
// accepts every text in brackets: these are customary and laboratory units.
func isUCUM(unit string) bool {
	u := ucum{rest: strings.TrimPrefix(unit, "/")}
	return u.term() && u.rest == ""
}

// ucum reads a unit from left to right:
//
//	term      = component {("." | "/") component}
//	component = "(" term ")" | annotation | (number | symbol [exponent]) [annotation]
type ucum struct {
	rest  string
	depth int
}

const maxParentheses = 100

func (u *ucum) term() bool {
	for {
		if !u.component() {
			return false
		}
		if !u.skip(".") && !u.skip("/") {
			return true
		}
	}
}

func (u *ucum) component() bool {
	if u.skip("(") {
		u.depth++
		return u.depth <= maxParentheses && u.term() && u.skip(")")
	}
	if strings.HasPrefix(u.rest, "{") {
		return u.annotation()
	}
	switch power := u.skip("10*") || u.skip("10^"); {
	case power:
		u.exponent()
	case u.digits(): // a number has no exponent
	case u.symbol():
		u.exponent()
	default:
		return false
	}
	return !strings.HasPrefix(u.rest, "{") || u.annotation()
}

func (u *ucum) skip(text string) bool {
	rest, found := strings.CutPrefix(u.rest, text)
	u.rest = rest
	return found
}

func (u *ucum) digits() bool {
	rest := strings.TrimLeft(u.rest, "0123456789")
	found := len(rest) < len(u.rest)
	u.rest = rest
	return found
}

func (u *ucum) exponent() {
	rest := u.rest
	_ = u.skip("+") || u.skip("-")
	if !u.digits() {
		u.rest = rest
	}
}

// annotation reads any ASCII text without spaces in braces.
func (u *ucum) annotation() bool {
	text, rest, closed := strings.Cut(u.rest[1:], "}")
	u.rest = rest
	return closed && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == '{' })
}

// symbol reads a unit with an optional prefix, or a text in brackets after one.
func (u *ucum) symbol() bool {
	end := strings.IndexAny(u.rest, "0123456789+-./(){}[")
	if end < 0 {
		end = len(u.rest)
	}
	symbol, rest := u.rest[:end], u.rest[end:]
	u.rest = rest
	if !strings.HasPrefix(rest, "[") {
		return ucumUnits[symbol] != 0 || isPrefixed(symbol)
	}
	_, after, closed := strings.Cut(rest, "]")
	u.rest = after
	symbol = strings.TrimSuffix(symbol, "_") // cal_[15]
	return closed && (symbol == "" || ucumUnits[symbol] != 0 || isPrefixed(symbol) || isPrefixed(symbol+"g"))
}

// isPrefixed reports whether a symbol is a prefix with a metric unit.
func isPrefixed(symbol string) bool {
	for _, size := range [...]int{1, 2} {
		if len(symbol) > size && strings.Contains(ucumPrefixes, " "+symbol[:size]+" ") && ucumUnits[symbol[size:]] == metric {
			return true
		}
	}
	return false
}

const ucumPrefixes = " Y Z E P T G M k h da d c m u n p f a z y Ki Mi Gi Ti "

type ucumUnit byte

const (
	metric ucumUnit = iota + 1 // may have a prefix
	notMetric
)

// ucumUnits are the units without brackets.
var ucumUnits = func() map[string]ucumUnit {
	units := map[string]ucumUnit{}
	for _, symbol := range strings.Fields(`m s g rad K C cd mol sr Hz N Pa J W A V F Ohm S Wb Cel T H lm lx Bq Gy Sv l L ar t bar u eV pc gf Ky
		Gal dyn erg P Bi St Mx G Oe Gb sb Lmb ph Ci R RAD REM cal cal_m cal_IT cal_th tex eq osm g% kat U Np B st mho bit By Bd`) {
		units[symbol] = metric
	}
	for _, symbol := range strings.Fields(`% gon deg ' '' min h d a a_t a_j a_g wk mo mo_s mo_j mo_g AU atm Ao b att circ sph bit_s`) {
		units[symbol] = notMetric
	}
	return units
}()
