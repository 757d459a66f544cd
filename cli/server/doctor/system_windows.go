package doctor

// What is of no concern here: owners are in the access lists, volumes seldom lie in folders,
// handles have no such limit.
func owners(place) []Finding    { return nil }
func devices(place) []Finding   { return nil }
func openFiles(place) []Finding { return nil }
