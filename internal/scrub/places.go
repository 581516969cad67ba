// SPDX-License-Identifier: Apache-2.0

package scrub

import (
	_ "embed"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
)

// policy selects the default rules for the value of an attribute.
type policy uint8

const (
	policyFull policy = iota
	policyForm
	policyURL
	policyQuery
	policyText
	policyMessage
	policyLocation
	policyCode // lines of source code, in frames only
	policyFrames
	policyData // of frames and mechanisms
	policyTemplate
	policyCrumbs
	policyMeta
	policyIP
	policyNever
)

var policies = map[string]policy{
	"full": policyFull, "form": policyForm, "url": policyURL, "query": policyQuery, "text": policyText, "message": policyMessage, "location": policyLocation,
	"frames": policyFrames, "template": policyTemplate, "crumbs": policyCrumbs, "meta": policyMeta, "ip": policyIP, "never": policyNever,
}

// place describes an attribute, by its line in places.txt or names.txt and by its key.
type place struct {
	policy    policy
	path      string // for selectors; "" = under its own key
	sensitive bool   // the password rule matches the key
	cookie    cookie
	header    bool // a header of a request or a response
}

//go:embed places.txt
var placesTable string

//go:embed names.txt
var namesTable string

// exactPlaces and prefixPlaces are the lines of places.txt and names.txt, by the kind of elements
// that they are limited to, then by key.
var exactPlaces, prefixPlaces = readPlaces(placesTable, namesTable)

// Kinds of elements. Others are signals: the types of elements in selectors.
const (
	kindAny      = ""
	kindResource = "resource" // also scopes and profiles
)

func readPlaces(table, names string) (exact, prefixes map[string]map[string]place) {
	exact, prefixes = map[string]map[string]place{}, map[string]map[string]place{}
	add := func(to map[string]map[string]place, kind, key string, p place) {
		if to[kind] == nil {
			to[kind] = map[string]place{}
		}
		to[kind][key] = p
	}
	for fields := range rows(names) {
		namespace := strings.TrimPrefix(fields[1], ".")
		for _, name := range fields[2:] {
			add(exact, kindAny, namespace+name, place{policy: policies[fields[0]]})
		}
	}
	for fields := range rows(table) {
		kind, as, limited := strings.Cut(fields[1], ":")
		if !limited {
			kind, as = kindAny, kind
		}
		p := place{policy: policies[as]}
		if len(fields) > 2 {
			p.path = fields[2]
		}
		if prefix, is := strings.CutSuffix(fields[0], "*"); is {
			add(prefixes, kind, prefix, p)
		} else {
			add(exact, kind, fields[0], p)
		}
	}
	return exact, prefixes
}

// rows returns the fields of each line that is no comment.
func rows(table string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for line := range strings.Lines(table) {
			if fields := strings.Fields(line); len(fields) > 1 && fields[0][0] != '#' && !yield(fields) {
				return
			}
		}
	}
}

// listed returns the line of a key, and how much of the key it names.
func listed(key, kind string) (p place, named int) {
	for _, table := range []string{kind, kindAny} {
		if p, is := exactPlaces[table][key]; is {
			return p, len(key)
		}
	}
	for named := min(len(key), longestPrefix); named > 0; named-- {
		for _, table := range []string{kind, kindAny} {
			if p, is := prefixPlaces[table][key[:named]]; is {
				return p, named
			}
		}
	}
	return place{}, 0
}

// placeOf returns the place of an attribute of an element of a kind.
func placeOf(key, kind string) place {
	p, named := listed(key, kind)
	if path, is := strings.CutSuffix(p.path, "*"); is {
		p.path = path + quoteKey(key[named:])
	}
	p.sensitive = p.policy != policyNever && (sensitiveKey(key) || sensitiveWord(key[strings.LastIndexByte(key, '.')+1:]))
	p.cookie = cookieOf(key)
	if p.policy == policyText && !p.sensitive && keepsID(key) {
		p.policy = policyNever
	}
	for _, prefix := range headerPrefixes {
		p.header = p.header || strings.HasPrefix(key, prefix)
	}
	return p
}

// longestPrefix bounds the search for a prefix: each look-up reads its text, and senders choose the
// length of keys.
var longestPrefix = func() (longest int) {
	for _, prefixes := range prefixPlaces {
		for prefix := range prefixes {
			longest = max(longest, len(prefix))
		}
	}
	return longest
}()

var headerPrefixes = func() (all []string) {
	for prefix := range prefixPlaces[kindAny] {
		if strings.HasSuffix(prefix, ".header.") {
			all = append(all, prefix)
		}
	}
	return all
}()

// idNames lists words that mark IDs, versions and hashes if a key ends with them: digits in their
// values are not card numbers.
var idNames = map[string]bool{
	"id": true, "ids": true, "uid": true, "uuid": true, "guid": true, "hash": true, "digest": true, "version": true, "build": true,
	"checksum": true, "sha256": true, "timestamp": true,
}

// keepsID reports whether the last word of a key marks an ID, a version or a hash.
func keepsID(key string) bool {
	return idNames[key[strings.LastIndexAny(key, "._")+1:]]
}

// placeCache caches places by key, because a message repeats its keys. It is bounded, because
// senders choose the keys.
type placeCache struct {
	kind   string
	places sync.Map // string → place
	size   atomic.Int32
}

const (
	maxCachedKeys = 4096
	maxCachedKey  = 128 // bytes
)

func (c *placeCache) of(key string) *place {
	if known, ok := c.places.Load(key); ok {
		return known.(*place)
	}
	p := placeOf(key, c.kind)
	if len(key) <= maxCachedKey && c.size.Load() < maxCachedKeys {
		c.size.Add(1)
		c.places.Store(strings.Clone(key), &p)
	}
	return &p
}
