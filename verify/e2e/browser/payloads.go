package browser

// Hostile contains strings that would run a script or request something if a page interpreted them.
var Hostile = []string{
	`<script>window.__hacked=1</script>`, `"><img src=x onerror="window.__hacked=2">`, `javascript:window.__hacked=3`,
	`<svg onload="window.__hacked=4">`, `</title><iframe srcdoc="<script>parent.__hacked=5</script>">`, `<img src="http://elsewhere.example/x.png">`,
	`{{constructor.constructor('window.__hacked=6')()}}`, `<a href="http://elsewhere.example/" autofocus onfocus="window.__hacked=7">x</a>`,
}

// Payloads contains content that sets window.__hacked, or requests something from another origin,
// if a preview interprets it.
var Payloads = []string{
	`<script>top.__hacked = 1; window.__hacked = 1</script>`,
	`<img src="x" onerror="top.__hacked = 1"><img src="http://198.51.100.1/track.png">`,
	`<svg xmlns="http://www.w3.org/2000/svg" onload="top.__hacked = 1"><script>top.__hacked = 1</script></svg>`,
	`"><iframe srcdoc="<script>top.__hacked = 1</script>"></iframe>`,
	`<a href="javascript:top.__hacked=1">javascript:top.__hacked=1</a>`,
	`<details open ontoggle="top.__hacked=1"><style>body { background: url(http://198.51.100.1/) }</style></details>`,
}
