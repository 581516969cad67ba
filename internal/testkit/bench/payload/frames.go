// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"fmt"
	"strings"
)

// The parts of names. The lengths of these lists have no common divisor, so that combinations
// rarely repeat.
var (
	packages = []string{"shop", "flask", "sqlalchemy.orm", "werkzeug", "urllib3", "shop.pricing", "requests", "celery.worker",
		"shop.catalog", "django.db.models", "redis", "jinja2", "shop.api.v2"}
	modules = []string{"session", "query", "app", "connectionpool", "serving", "rules", "loader", "handlers", "context",
		"compiler", "retry"}
	classes = []string{"OrderService", "QueryCompiler", "HTTPConnectionPool", "RequestContext", "PriceRule", "TaskPool",
		"SessionTransaction"}
	methods = []string{"__init__", "execute", "_execute_context", "dispatch_request", "full_dispatch_request", "urlopen",
		"_make_request", "apply", "compile", "<listcomp>", "visit_select", "wrapper.<locals>.inner", "get_or_create",
		"process_bind_param", "run", "__call__", "flush"}
)

func word(list []string, i int) string { return list[i%len(list)] }

// place distributes frame numbers over modules and lines: about three frames per function, as in
// recordings.
func place(i int) (function, line int) { return i / 3, 10 + i*37%900 }

func (g *generator) pythonFrame(i int) {
	function, line := place(i)
	module := word(packages, function/5) + "." + word(modules, function/7)
	file := strings.ReplaceAll(module, ".", "/") + ".py"
	root, inApp := "/srv/app/venv/lib/python3.11/site-packages/", "false"
	if strings.HasPrefix(module, "shop") {
		root, inApp = "/srv/app/", "true"
	}
	g.writef(`{"abs_path":"%s%s","module":%q,"filename":%q,"function":"%s.%s","lineno":%d,"in_app":%s}`,
		root, file, module, file, word(classes, function), word(methods, function), line, inApp)
}

func (g *generator) nodeFrame(i int) {
	function, line := place(i)
	module := strings.ReplaceAll(word(packages, function/5), ".", "-")
	file := fmt.Sprintf("/srv/app/node_modules/@%s/core/build/cjs/%s.js", module, word(modules, function/7))
	g.writef(`{"lineno":%d,"colno":%d,"function":"%s.%s","abs_path":%q,"filename":%q,"module":"@%s.core.build.cjs:%s"}`,
		line, 1+i*13%120, word(classes, function), word(methods, function), file, file, module, word(modules, function/7))
}

func (g *generator) browserFrame(i int) {
	function, _ := place(i)
	g.writef(`{"function":%q,"abs_path":"https://shop.example.com/assets/app.min.js","lineno":%d,"colno":%d}`,
		word(methods, function), 1+i%40, i*977%50_000)
}

// The images of an app: its own, and those of the system, which are adjacent in the shared cache.
const (
	images     = 420
	imageBase  = 0x1_8000_0000
	imageSpace = 0x20_0000 // distance between images; the image takes nine tenths of it
)

func (g *generator) imagesJSON() string {
	var all strings.Builder
	for i := range images {
		if i > 0 {
			all.WriteByte(',')
		}
		fmt.Fprintf(&all, `{"type":"macho","debug_id":"%08X-25E2-34E6-8BC7-%012X","image_addr":"0x%016x","image_vmaddr":"0x%016x",`+
			`"image_size":%d,"code_file":"/System/Library/Frameworks/Framework%d.framework/Framework%d"}`,
			g.rng.Uint32(), g.rng.Uint64N(1<<48), imageBase+i*imageSpace, 0x1_0000_0000, imageSpace/10*9, i, i)
	}
	return all.String()
}

// cocoaFrame writes an address; half of the addresses are in the first images, those of the app.
func (g *generator) cocoaFrame(i int) {
	image := i % 8
	if i%2 == 1 {
		image = i / 2 % images
	}
	g.writef(`{"instruction_addr":"0x%x"}`, imageBase+image*imageSpace+i*4096%(imageSpace/10*9)+4*i%4096)
}
