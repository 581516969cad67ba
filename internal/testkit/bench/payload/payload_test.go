// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestGenerated(t *testing.T) {
	for _, p := range []Payload{Python(FiveMB), Node(FiveMB), Cocoa(FiveMB), Patho(FiveMBPatho), Browser(), Python(10)} {
		var chunk struct {
			Profile struct {
				Samples []struct {
					Stack  int    `json:"stack_id"`
					Thread string `json:"thread_id"`
				}
				Stacks [][]int
				Frames []json.RawMessage
			}
		}
		if err := json.Unmarshal(p.JSON, &chunk); err != nil {
			t.Fatal(p.Name, err)
		}
		distinct, used, identities, referenced := map[string]bool{}, map[int]bool{}, map[any]bool{}, map[int]bool{}
		for _, frame := range chunk.Profile.Frames {
			distinct[string(frame)] = true
		}
		for _, s := range chunk.Profile.Samples {
			used[s.Stack] = true
			identities[s] = true
		}
		for i, stack := range chunk.Profile.Stacks {
			for _, frame := range stack {
				if frame >= len(chunk.Profile.Frames) {
					t.Fatal(p.Name, "frame out of range")
				}
				if used[i] {
					referenced[frame] = true
				}
			}
		}
		t.Logf("%s: %.2f MB, %d samples, %d identities, %d stacks (%d used), %d frames (%d distinct, %d used)", p.Name, p.MB(),
			len(chunk.Profile.Samples), len(identities), len(chunk.Profile.Stacks), len(used),
			len(chunk.Profile.Frames), len(distinct), len(referenced))
		if len(chunk.Profile.Samples) != p.Samples {
			t.Error(p.Name, "wrong number of samples")
		}
	}
}

func TestDeterministic(t *testing.T) {
	if !bytes.Equal(Cocoa(500).JSON, Cocoa(500).JSON) {
		t.Error("two runs differ")
	}
}
