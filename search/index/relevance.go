package index

// The quality of a match between a query word and a document word.
const (
	inside = 1
	prefix = 2
	whole  = 3
)

// weights are the points for a whole word of each zone. A prefix counts two thirds, a substring one
// third.
var weights = [zoneCount]int{nameZone: 4, labelZone: 3, textZone: 2, bodyZone: 1, containerZone: 1}

// mark records the points of a document for the current clause; the maximum counts.
func (w *scratch) mark(doc int, points uint8) {
	if w.quality[doc] < points {
		w.quality[doc] = points
		w.hit.set(doc)
	}
}
