// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/flame"
)

const (
	// maxBoxes is the maximum number of boxes of a graph. Rows and frames of 20,000 boxes take less
	// than 4 MB without texts, and a browser draws them in a few milliseconds. The first view of
	// the largest recording has 9,000.
	maxBoxes = 20_000
	// maxDrawingTexts is the part of a response for the names in a graph. The lists of a merged
	// graph have half as much in total.
	maxDrawingTexts = 2 << 20
	// defaultPixels is the width of graphs for clients that do not state theirs.
	defaultPixels = 1000
	// maxPixels is the maximum width, twice that of the widest screens.
	maxPixels = 1 << 14
)

// drawingAnswer is the visible part of a graph; see [flame.Drawing].
type drawingAnswer struct {
	Smallest int64 `json:"smallest"` // smallest extent of a box; smaller ones are combined
	// Boxes are lists of numbers: depth, start, extent, index of the frame (-1: root, -2: idle),
	// weight, self weight (0 in inverted graphs), number of combined functions, 1 if the search
	// matches, difference in comparisons.
	Boxes [][9]int64 `json:"boxes"`
}

func (a *drawingAnswer) draw(drawing flame.Drawing, frames *frameList, reverse bool) {
	a.Smallest, a.Boxes = drawing.Smallest, make([][9]int64, len(drawing.Boxes))
	for i, b := range drawing.Boxes {
		if reverse {
			b.Self = 0
		}
		a.Boxes[i] = [9]int64{
			int64(b.Depth), b.Start, b.Extent, frames.index(b.Frame), b.Weight, b.Self, int64(b.Combined), flag(b.Found), b.Delta,
		}
	}
}

// frameList collects the frames that nodes refer to.
type frameList struct {
	list    []int32
	indices map[int32]int64
}

func (l *frameList) index(frame int32) int64 {
	if frame < 0 {
		return int64(frame) // RootFrame, IdleFrame
	}
	index, known := l.indices[frame]
	if !known {
		index = int64(len(l.list))
		l.indices[frame] = index
		l.list = append(l.list, frame)
	}
	return index
}

// parseWindow parses the visible part of a graph:
//
//	left=…&right=…  positions in the graph; all of it if absent
//	pixels=…        its width
func parseWindow(query url.Values) (w flame.Window, err error) {
	w = flame.Window{Pixels: defaultPixels, Most: maxBoxes}
	pixels := int64(defaultPixels)
	for key, target := range map[string]*int64{"left": &w.From, "right": &w.To, "pixels": &pixels} {
		if !query.Has(key) {
			continue
		}
		if *target, err = strconv.ParseInt(query.Get(key), 10, 64); err != nil || *target < 0 || *target > math.MaxInt64/2 {
			return w, badRequest("%s: %q is not a position or width", key, answer.Display(query.Get(key)))
		}
	}
	if query.Has("right") && w.To <= w.From {
		return w, badRequest("right: %d must be greater than left, %d", w.To, w.From)
	}
	w.Pixels = int(min(max(1, pixels), maxPixels))
	return w, nil
}

// partial reports whether a request is for the boxes of a part of a graph that the page already
// shows.
func partial(query url.Values) bool { return query.Has("right") }

// maxPattern is the maximum size of a search pattern. Users type it.
const maxPattern = 1000

// matching reports which frames match a pattern in their name, file or module. It returns nil if
// the pattern is empty. The pattern is a case-insensitive regular expression, or plain text if it
// is not a valid expression.
func matching(graph *flame.Graph, pattern string) []bool {
	if pattern == "" {
		return nil
	}
	pattern = pattern[:min(len(pattern), maxPattern)]
	wanted, err := regexp.Compile("(?i)" + pattern)
	if err != nil {
		wanted = regexp.MustCompile("(?i)" + regexp.QuoteMeta(strings.ToValidUTF8(pattern, "")))
	}
	list := make([]bool, len(graph.Frames))
	for i := range graph.Frames {
		f := &graph.Frames[i]
		list[i] = wanted.MatchString(f.DisplayName()) || wanted.MatchString(f.File) || wanted.MatchString(f.Module)
	}
	return list
}
