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
		return (before == '`' || before == '#') && (end+2 == len(text) || !isWord(text[end+2]))
	case s == stackSyntax && strings.HasPrefix(text[end:], "= ("): // a setter, before its file
		return true
	case end < len(text) && text[end] == '=':
		return isAssemblyToken(text[start:end], text[from:])
	case end >= len(text) || text[end] != ':':
		return false
	case from > end+1 || from == len(text) || text[from] == '\n' || text[from] == '\r':
		return before == '\\' || strings.HasSuffix(text[:start], "::") || s == stackSyntax && isTypeOfStack(text, start) || isType(text[start:end], word-start)
	}
	path := before == '/' || before == '\\' || strings.HasSuffix(text[:start], "->") // of files, of PHP's name spaces, and of Dalvik
	return path || strings.ContainsAny(text[word:end], ".-") && isPosition(text[from:]) ||
		strings.EqualFold(text[start:end], "auth") || // a host or a guard, auth:5432 and auth:api
		isAddress(text[from:]) || isLabel(text[from:])
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

// isAddress reports whether a text begins with the address of an object. Keys are longer.
func isAddress(text string) bool {
	const digits = 16
	n := wordLength(text)
	return strings.HasPrefix(text, "0x") && n <= len("0x")+digits
}

// isLabel reports whether a text begins with labels of a method: login:token: in Objective-C,
// login(user:token:) in Swift. No value follows the last one.
func isLabel(text string) bool {
	const most = 16
	for range most {
		n := wordLength(text)
		if n == 0 || n == len(text) || text[n] != ':' || strings.HasPrefix(text[n:], "://") {
			return false
		}
		if text = text[n+1:]; text == "" || !isWord(text[0]) {
			return true
		}
	}
	return false
}

// isType reports whether the name before a colon and a text is the name of a type or a package, as
// in error and log messages. Its sensitive word ends at word. A name with a word that plainly means
// a secret is a key, unless it ends like a type: auth.views, but neither db.password.prod nor
// PasswordNew.
func isType(name string, word int) bool {
	for _, suffix := range []string{"error", "exception", "failure", "warning", "authorized", "authenticated"} {
		if n := len(name) - len(suffix); n >= 0 && strings.EqualFold(name[n:], suffix) {
			return true
		}
	}
	last := strings.LastIndexByte(name, '.') + 1
	isKey := meansSecret(name)
	if word <= last {
		if word = wordIn(name[last:]); word == 0 { // com.shop.auth.Filter, but neither auth.password nor secret.key
			return !valueNouns[strings.ToLower(name[last:])] && (!isKey || typeNouns[lastWord(name)])
		}
		word += last
	}
	name, word = name[last:], word-last // TokenFilter, but neither ApiKey nor PasswordHash
	for n := len(name) - 1; n >= word; n-- {
		if name[n] >= 'A' && name[n] <= 'Z' { // not SECRET_KEY
			return n+1 < len(name) && name[0] >= 'A' && name[0] <= 'Z' && !valueNouns[strings.ToLower(name[n:])] && wordIn(name[n:]) == 0 &&
				(!isKey || typeNouns[lastWord(name)])
		}
	}
	return false
}

// wordIn returns the end of the first sensitive word in a name, 0 if there is none.
func wordIn(name string) int {
	state := uint8(0)
	for i := range len(name) {
		if state = automaton.next[state][name[i]]; automaton.found[state]&hasWord != 0 && !notAuth(name, i) {
			return i + 1
		}
	}
	return 0
}

// meansSecret reports whether a name contains a sensitive word other than auth and token, which are
// as common in names of types and packages as in names of values.
func meansSecret(name string) bool {
	state := uint8(0)
	for i := range len(name) {
		if state = automaton.next[state][name[i]]; automaton.found[state]&hasWord == 0 {
			continue
		}
		if !strings.EqualFold(name[max(0, i+1-len(tokenWord)):i+1], tokenWord) && !strings.EqualFold(name[max(0, i+1-len(authWord)):i+1], authWord) {
			return true
		}
	}
	return false
}

// lastWord returns the last word of a name in lower case: service of shop.AuthService.
func lastWord(name string) string {
	at := strings.LastIndexFunc(name, func(r rune) bool { return r == '.' || r == '_' || r == '-' || r >= 'A' && r <= 'Z' })
	if at >= 0 && (name[at] < 'A' || name[at] > 'Z') {
		at++
	}
	return strings.ToLower(name[max(0, at):])
}

// typeNouns are the last words of names of types and packages. Errors are in isType.
var typeNouns = map[string]bool{
	"activity": true, "adapter": true, "api": true, "backend": true, "bean": true, "bloc": true, "builder": true, "cache": true, "checker": true,
	"client": true, "command": true, "component": true, "controller": true, "converter": true, "decoder": true, "encoder": true,
	"event": true, "extension": true, "factory": true, "filter": true, "form": true, "fragment": true, "generator": true, "guard": true,
	"handler": true, "hasher": true, "helper": true, "impl": true, "interceptor": true, "job": true, "listener": true, "loader": true,
	"manager": true, "middleware": true, "model": true, "module": true, "page": true, "parser": true, "plugin": true, "policy": true,
	"processor": true, "provider": true, "proxy": true, "query": true, "reader": true, "repository": true, "resolver": true, "screen": true,
	"serializer": true, "service": true, "state": true, "storage": true, "store": true, "strategy": true, "task": true, "test": true,
	"util": true, "utils": true, "validator": true, "verifier": true, "view": true, "views": true, "widget": true, "worker": true, "writer": true,
}

// valueNouns are the last words of value names: SecretKey, PasswordHash, AuthHeader.
var valueNouns = map[string]bool{
	"key": true, "keys": true, "id": true, "hash": true, "value": true, "text": true, "string": true, "data": true, "header": true, "code": true,
	"token": true, "bearer": true, "cookie": true, "param": true, "field": true, "pair": true, "salt": true, "confirmation": true,
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
