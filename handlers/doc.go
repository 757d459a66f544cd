// Package handlers is the HTTP gateway: it decodes requests, calls use cases and encodes answers. It knows neither rules nor the
// database.
//
// # Routes
//
// httprouter cannot hold /resources/:id and /resources/query/results/:token in one tree. There are two instances: one of all routes, and
// one of the listings alone. An address that ends in /query/results/<token> loses that end and is looked up in the second one. So a
// token on an address without pages is 404, and another method on a page is 405 with the right Allow. Redirects are off: an address with
// a trailing slash is served as if it had none.
//
// # Downloads
//
// http.ServeContent does ranges and conditions; a whole file goes without it. Up to 32 KiB are read and written at once, up to 16 KiB
// together with the head: the connection joins the two writes of Go's server. A larger file goes to the system in one call, on
// Linux and over plain HTTP/1.1 (sendfile): in chunks of 32 KiB, 1 GiB cost twice the processor time that nginx needs. Up to
// verify_reads a file is compared with its SHA-256: up to one chunk before the answer begins, above that while it is sent, with the last
// byte kept back. The progress of a client is seen all the same: eight times in its stall timeout a deadline passes, and what has not
// arrived is asked of the system (SIOCOUTQ).
//
// # Pages of resources
//
// A borrowed row is appended to the page by a layout: a template of the JSON that is made once for each base URL. A page of 100 costs 25
// µs for reading and 36 µs for writing 100 kB of JSON; through encoding/json, which remains the reference of the tests, it cost 2,000.
//
// # Archives
//
// One transaction finds the ids of the files (16 bytes each). Each file is opened when it comes, like a download, with the permission of
// that moment, and hashed while it goes into the zip. Of each path a digest of 16 bytes is kept; with the zip's directory and the
// manifest a file costs some 500 bytes until the archive ends. All archives together have at most 1,048,576 files. An error in the
// middle cuts the connection before the directory of the zip is written.
//
// # The pages for browsers
//
// They are one HTML document, the shell, under every address that is not of the interface and not named like a file; the script makes
// the page by the address. The shell has the base path in data-base and links /assets, whose names hold the hash of their content and
// may be cached for ever. It asks for no key; the script uses the interface like any other client. Its policy allows scripts of the
// service and no others. Browsers send cookies whichever page made a request, so what is not only read is refused unless it comes from
// the service's origin (http.CrossOriginProtection).
package handlers
