// SPDX-License-Identifier: Apache-2.0

package proguard

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// annotation reads a comment after a class or a member. R8 writes JSON; other comments are
// information about the file.
func (r *reader) annotation(text []byte) {
	if r.annotates == nothing || !bytes.HasPrefix(text, []byte("{")) {
		return
	}
	var a struct {
		ID         string            `json:"id"`
		FileName   string            `json:"fileName"`
		Signature  string            `json:"signature"`
		Positions  map[uint32]uint32 `json:"positions"`
		Conditions []string          `json:"conditions"`
		Actions    []string          `json:"actions"`
	}
	if json.Unmarshal(text, &a) != nil {
		r.unreadable++
		return
	}
	class, m := &r.classes[len(r.classes)-1], &r.pending
	id := strings.TrimPrefix(a.ID, "com.android.tools.r8.")
	switch {
	case r.annotates == theClass && id == "sourceFile" && len(a.FileName) <= maxName:
		class.file = r.ref([]byte(a.FileName))
	case r.annotates == theClass && id == "synthesized":
		class.synthesized = true
	case r.annotates == theClass:
	case id == "synthesized":
		m.flags |= isSynthesized
	case id == "outline":
		m.flags |= isOutline
	case id == "residualsignature":
		m.residual = r.ref([]byte(a.Signature))
		m.flags |= hasResidual
	case id == "outlineCallsite":
		positions := make([]pair, 0, len(a.Positions))
		for from, to := range a.Positions {
			positions = append(positions, pair{from, to})
		}
		slices.SortFunc(positions, func(a, b pair) int { return cmp.Compare(a.from, b.from) })
		m.callsites = appendSpan(&r.pairs, positions) // the last annotation counts
		m.flags |= hasCallsites
	case id == "rewriteFrame":
		if rule, ok := r.rewrite(a.Conditions, a.Actions); ok {
			r.pendingRules = append(r.pendingRules, rule)
		}
	}
}

// rewrite reads the only condition and the only action that R8 defines; rules with others do not
// apply.
func (r *reader) rewrite(conditions, actions []string) (rule rewrite, ok bool) {
	if len(conditions) != 1 || len(actions) != 1 {
		return rule, false
	}
	throws, isThrows := call(conditions[0], "throws")
	count, isRemove := call(actions[0], "removeInnerFrames")
	n, rest, isNumber := number([]byte(count))
	return rewrite{r.ref([]byte(throws)), n}, isThrows && isRemove && isNumber && len(rest) == 0
}

// call returns the argument in "name(argument)".
func call(text, name string) (argument string, ok bool) {
	text, prefix := strings.CutPrefix(text, name+"(")
	text, suffix := strings.CutSuffix(text, ")")
	return text, prefix && suffix
}
