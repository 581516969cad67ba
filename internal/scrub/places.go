// SPDX-License-Identifier: Apache-2.0

package scrub

import (
	_ "embed"
	"strings"
	"sync"
	"sync/atomic"
)

// policy selects the default rules for the value of an attribute.
type policy uint8

const (
	policyFull policy = iota
	policyURL
	policyText
	policyMessage
	policyLocation
	policyCode // lines of source code, in frames only
	policyFrames
	policyCrumbs
	policyIP
	policyNever
)

var policies = map[string]policy{
	"full": policyFull, "url": policyURL, "text": policyText, "message": policyMessage, "location": policyLocation,
	"frames": policyFrames, "crumbs": policyCrumbs, "ip": policyIP, "never": policyNever,
}

// place describes an attribute, by its line in places.txt and by its key.
type place struct {
	policy    policy
	path      string // for selectors; "" = under its own key
	sensitive bool   // the password rule matches the key
	cookie    cookie
	header    bool // a header of a request or a response
}

//go:embed places.txt
var placesTable string

// exactPlaces and prefixPlaces are the lines of places.txt.
var exactPlaces, prefixPlaces = readPlaces(placesTable)

func readPlaces(table string) (exact, prefixes map[string]place) {
	exact, prefixes = map[string]place{}, map[string]place{}
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] == "#" || strings.HasPrefix(fields[0], "#") {
			continue
		}
		p := place{policy: policies[fields[1]]}
		if len(fields) > 2 {
			p.path = fields[2]
		}
		if prefix, is := strings.CutSuffix(fields[0], "*"); is {
			prefixes[prefix] = p
		} else {
			exact[fields[0]] = p
		}
	}
	return exact, prefixes
}

// placeOf returns the place of an attribute.
func placeOf(key string) place {
	p, listed := exactPlaces[key]
	for end := len(key); !listed && end > 0; end-- {
		if p, listed = prefixPlaces[key[:end]]; listed {
			if path, is := strings.CutSuffix(p.path, "*"); is {
				p.path = path + quoteKey(key[end:])
			}
		}
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

var headerPrefixes = func() (all []string) {
	for prefix := range prefixPlaces {
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
	p := placeOf(key)
	if len(key) <= maxCachedKey && c.size.Load() < maxCachedKeys {
		c.size.Add(1)
		c.places.Store(strings.Clone(key), &p)
	}
	return &p
}
