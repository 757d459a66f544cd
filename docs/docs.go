// Package docs holds the pages of documentation that the executable carries, so that a site without
// a network has all that a message names.
package docs

import "embed"

// Pages are the pages in Markdown, by file name, such as operations.md.
//
//go:embed operations.md cluster.md drive.md links.md audit.md csv.md webhooks.md
//go:embed events.md errors.md permissions.md reliability.md
var Pages embed.FS
