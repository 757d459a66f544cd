package pages

import (
	"testing"

	"labshelf/verify/e2e/browser"
)

func TestMain(m *testing.M) { browser.Main(m) }
