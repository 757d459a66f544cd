package descriptive

func (c *checker) year(year int) {
	if year < firstYear || year > lastYear {
		c.refuse("must be a year from %d to %d", firstYear, lastYear)
	}
}

func (c *checker) oneOf(text string, words []string) {}
func (c *checker) licence(id string)                 {}
func checkKeyword(c *checker, keyword string)        { c.word(keyword, maxLine) }
func (r Creator) check(c *checker)                   {}
func (r Related) check(c *checker)                   {}
func (r Date) check(c *checker)                      {}
func (r Funding) check(c *checker)                   {}
func (r Place) check(c *checker)                     {}

var resourceTypes []string
