// SPDX-License-Identifier: Apache-2.0

package scrub

import "strings"

// Code names in texts look like assignments, but their parts are not values. Sentry's servers keep
// them; TestNamesStay of the package relaytest generates them as SDKs and runtimes write them.
//
//	TokenError: expired   com.shop.auth.Filter: started   token.go:42   Auth.cs:line 7   auth-db:5432
//	-[Auth login:token:]   #<Auth:0x55d0>   in `token='   Shop\Authenticate:api   LAuth;->token:LX;
//	PublicKeyToken=b77a5c561934e089

// isCode reports whether the name with a sensitive word, which ends at word, is a code name. The
// name ends at end, and the apparent value after it starts at from.
func isCode(text string, word, end, from int, s syntax) bool {
	start := nameStart(text, word)
	before := byte(0)
	if start > 0 {
		before = text[start-1]
	}
	switch {
	case strings.HasPrefix(text[end:], "='"): // a setter of Ruby: in `token=', in 'Auth#token='
		return before == '`' || before == '#'
	case s == stackSyntax && strings.HasPrefix(text[end:], "= ("): // a setter, before its file
		return true
	case end < len(text) && text[end] == '=':
		return isAssemblyToken(text[start:end], text[from:])
	case end >= len(text) || text[end] != ':':
		return false
	case from > end+1 || from == len(text) || text[from] == '\n' || text[from] == '\r':
		return before == '\\' || strings.HasSuffix(text[:start], "::") || s == stackSyntax && isTypeOfStack(text, start) || isType(text[start:end], word-start)
	}
	path := before == '/' || before == '\\' || before == '>' // of files, of PHP's name spaces, and -> of Dalvik
	return path || strings.ContainsAny(text[word:end], ".-") && isPosition(text[from:]) ||
		strings.EqualFold(text[start:end], "auth") || // a host or a guard, auth:5432 and auth:api
		strings.HasPrefix(text[from:], "0x") || isLabel(text[from:])
}

// isTypeOfStack reports whether the name that starts at i is the type of an exception: it is at the
// start of the text or of a cause.
func isTypeOfStack(text string, i int) bool {
	for i > 0 && text[i-1] > ' ' { // name spaces have other characters than names
		i--
	}
	return i == 0 || strings.HasSuffix(text[:i], "Caused by: ")
}

// nameStart returns the start of the name that contains the byte before i.
func nameStart(text string, i int) int {
	for i > 0 && isName(text[i-1]) {
		i--
	}
	return i
}

// isPosition reports whether a text begins with a line or a port: digits, or .NET's "line 7".
func isPosition(text string) bool {
	const digits = 6
	text = strings.TrimPrefix(text, "line ")
	n := 0
	for n < len(text) && n <= digits && isDigit(text[n]) {
		n++
	}
	return n > 0 && n <= digits && (n == len(text) || !isWord(text[n]))
}

// isLabel reports whether a text begins with a label of a method: login:token: in Objective-C,
// login(user:token:) in Swift.
func isLabel(text string) bool {
	n := wordLength(text)
	return n > 0 && n < len(text) && text[n] == ':' && !strings.HasPrefix(text[n:], "://")
}

// isType reports whether the name before a colon and a text is the name of a type or a package, as
// in error and log messages. Its sensitive word ends at word.
func isType(name string, word int) bool {
	last := strings.LastIndexByte(name, '.') + 1
	if word <= last {
		return true
	}
	for _, suffix := range []string{"error", "exception", "failure", "warning", "authorized", "authenticated"} {
		if n := len(name) - len(suffix); n >= 0 && strings.EqualFold(name[n:], suffix) {
			return true
		}
	}
	name, word = name[last:], word-last // TokenFilter, but neither ApiKey nor PasswordHash
	for n := len(name) - 1; n >= word; n-- {
		if name[n] >= 'A' && name[n] <= 'Z' {
			return name[0] >= 'A' && name[0] <= 'Z' && !valueNouns[name[n:]]
		}
	}
	return false
}

// valueNouns are the last words of value names: SecretKey, PasswordHash, AuthHeader.
var valueNouns = map[string]bool{
	"Key": true, "Keys": true, "Id": true, "ID": true, "Hash": true, "Value": true, "Text": true, "String": true, "Data": true, "Header": true, "Code": true,
	"Token": true, "Param": true, "Field": true, "Pair": true, "Salt": true, "Confirmation": true,
}

// isAssemblyToken reports whether a value is part of the name of a .NET assembly: the public key of
// its publisher is no secret. https://learn.microsoft.com/dotnet/standard/assembly/names
func isAssemblyToken(name, value string) bool {
	const digits = 16
	if !strings.EqualFold(name, "PublicKeyToken") {
		return false
	}
	end := 0
	for end < len(value) && end <= digits && isAlphanumeric(value[end]) {
		end++
	}
	return end == digits && strings.Trim(value[:end], "0123456789abcdefABCDEF") == "" || value[:end] == "null"
}

// isNothing reports whether a value is a word that contains no secret, such as nil or true.
func isNothing(value string) bool {
	switch len(value) {
	case len("nil"), len("null"), len("false"), len("default"), len("undefined"):
		return nothing[strings.ToLower(value)]
	}
	return false
}

var nothing = map[string]bool{"nil": true, "null": true, "none": true, "true": true, "false": true, "default": true, "undefined": true}
