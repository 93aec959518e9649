package cxrepro_test

import (
	"go/build"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
)

// module is the import path prefix of everything of ours.
const module = "cxrepro"

// A layer is a set of folders that share one rule about what they may import.
type layer struct {
	name    string
	folders []string
	// own lists the folders of ours that a package of the layer may import, directly
	// or not. A trailing slash allows the whole subtree.
	own []string
	// denied lists import path prefixes from elsewhere that no package reachable
	// through our own packages may import.
	denied []string
}

// pure is what nouns and domain must not touch: processes, networks, clocks of the
// outside world, cgo and the services we adapt.
var pure = []string{
	"go.temporal.io", "github.com/aws", "github.com/minio", "github.com/yalue",
	"net/http", "net", "log/slog", "log", "os", "os/exec", "C", "database/sql",
	"github.com/spf13", "math/rand",
}

// exact marks the denied paths whose subfolders are fine (math/rand/v2 takes explicit seeds).
var exact = map[string]bool{"net": true, "os": true, "log": true, "math/rand": true}

var nouns = []string{
	"artifacts", "internal/geom", "internal/mask", "internal/anatomy", "internal/cxr",
	"internal/answer", "internal/dialogue", "internal/stats", "internal/report",
	"internal/provenance", "internal/datause", "internal/lvlm", "internal/spelling", "internal/jsonscan",
}

var domain = []string{
	"internal/chexstruct", "internal/cxreasonbench", "internal/xragent", "internal/xragent/quiz",
	"internal/xragent/bench", "internal/xragent/analysis", "internal/xragent/tables",
	"internal/xragent/tools", "internal/dataset", "internal/overlay", "internal/overlap", "internal/phantom",
	"internal/xragent/radcot", "internal/xragent/radcot/fixture",
}

// records are what documents of the store are written and read with: nouns, domain, and what
// internal/contract itself stands on.
var records = slices.Concat(nouns, domain, []string{"internal/contract", "experiments", "internal/strictyaml", "internal/lru", "internal/lvlm/picture"})

// calls are records with the ledger of calls.
var calls = slices.Concat(records, []string{"internal/ledger", "internal/ledger/limit"})

var layers = []layer{
	{name: "nouns", folders: nouns, own: nouns, denied: pure},
	{name: "domain", folders: domain, own: append(append([]string{}, nouns...), domain...), denied: pure},
	{name: "store adapters", folders: []string{"artifacts/dirstore", "artifacts/memstore", "artifacts/s3store", "artifacts/miniostore", "artifacts/faultstore", "artifacts/overlaystore"},
		own: []string{"artifacts", "artifacts/", "internal/datause", "internal/jsonscan"}, denied: []string{"go.temporal.io"}},
	{name: "derivations", folders: []string{"internal/derive"}, own: slices.Concat(calls, []string{"artifacts/manifest"}),
		denied: []string{"go.temporal.io", "github.com/aws", "github.com/minio", "net/http", "database/sql"}},
	{name: "plan", folders: []string{"internal/plan"}, own: slices.Concat(calls, []string{"artifacts/manifest", "internal/derive", "internal/catalog"}),
		denied: []string{"go.temporal.io", "github.com/aws", "github.com/minio", "net/http"}},
	{name: "comparisons", folders: []string{"internal/compare", "internal/why"},
		own:    slices.Concat(calls, []string{"internal/compare", "internal/why", "internal/report/scoring"}),
		denied: []string{"go.temporal.io", "github.com/aws", "github.com/minio", "net/http", "database/sql"}},
	{name: "picture rules", folders: []string{"internal/lvlm/picture"}, own: append([]string{"internal/lru"}, nouns...), denied: pure},
	{name: "model adapters", folders: []string{"internal/lvlm/wire", "internal/lvlm/openai", "internal/lvlm/gemini", "internal/lvlm/recorded", "internal/lvlm/endpoint", "internal/lvlm/textseg"},
		own: append([]string{"internal/lvlm/", "internal/lru", "internal/strictyaml"}, nouns...), denied: []string{"go.temporal.io", "github.com/aws", "github.com/minio"}},
	{name: "attest", folders: []string{"internal/attest"}, own: []string{"internal/attest"}, denied: []string{"go.temporal.io", "github.com/aws", "github.com/minio", "net", "net/http"}},
	{name: "bundle", folders: []string{"internal/bundle"}, own: append([]string{"internal/bundle", "internal/attest"}, nouns...), denied: []string{"go.temporal.io", "github.com/aws", "github.com/minio", "net", "net/http"}},
	{name: "onnx", folders: []string{"internal/onnx"}, own: []string{"internal/onnx"}, denied: []string{"go.temporal.io", "github.com/aws", "github.com/minio"}},
	{name: "segment", folders: []string{"internal/segment"}, own: append([]string{"internal/segment", "internal/onnx"}, nouns...), denied: []string{"go.temporal.io", "github.com/aws", "github.com/minio"}},
	{name: "claims", folders: []string{"internal/claims"},
		own:    slices.Concat(records, []string{"internal/report/scoring"}),
		denied: []string{"go.temporal.io", "github.com/aws", "github.com/minio", "net/http", "os/exec", "log/slog", "C"}},
	{name: "lineage", folders: []string{"internal/lineage"}, own: slices.Concat(records, []string{"internal/lineage", "internal/catalog", "internal/report/", "artifacts/"}), denied: []string{"go.temporal.io", "github.com/aws", "github.com/minio", "net/http", "C"}},
	{name: "checkpoint", folders: []string{"internal/checkpoint"},
		own:    slices.Concat(calls, []string{"internal/checkpoint", "internal/derive", "artifacts/manifest"}),
		denied: []string{"go.temporal.io", "github.com/aws", "github.com/minio", "net/http", "os/exec", "database/sql"}},
	{name: "reward server", folders: []string{"internal/rewardserver"}, own: append([]string{"internal/rewardserver"}, records...), denied: []string{"go.temporal.io", "github.com/aws", "github.com/minio", "os/exec", "database/sql", "C"}},
	{name: "process", folders: []string{"internal/process"}, own: []string{"internal/process"}, denied: []string{"go.temporal.io", "github.com/aws", "github.com/minio", "net/http"}},
	{name: "trainer", folders: []string{"internal/trainer"}, own: append([]string{"internal/trainer", "internal/process", "internal/strictyaml"}, nouns...),
		denied: []string{"go.temporal.io", "github.com/aws", "github.com/minio", "database/sql", "C"}},
	{name: "quiz training", folders: []string{"internal/trainer/quiztraining"},
		own:    slices.Concat(calls, []string{"internal/trainer", "internal/trainer/quiztraining", "internal/process", "internal/checkpoint", "internal/derive", "artifacts/manifest"}),
		denied: []string{"go.temporal.io", "github.com/aws", "github.com/minio", "database/sql", "C"}},
	{name: "learning curves", folders: []string{"internal/report/learning"}, own: append([]string{"internal/report/learning"}, records...), denied: []string{"go.temporal.io", "github.com/aws", "github.com/minio", "net/http", "os/exec", "database/sql", "C"}},
	{name: "viewcheck", folders: []string{"internal/viewcheck"}, own: append([]string{"internal/viewcheck", "internal/onnx", "internal/strictyaml"}, nouns...), denied: []string{"go.temporal.io", "github.com/aws", "github.com/minio"}},
}

// TestLayers holds the import rules: nouns import nouns, domain imports nouns, adapters
// never import domain, and neither nouns nor domain reach outside the process.
func TestLayers(t *testing.T) {
	for _, l := range layers {
		for _, folder := range l.folders {
			checkLayer(t, l, folder)
		}
	}
}

func checkLayer(t *testing.T, l layer, folder string) {
	t.Helper()
	seen := map[string]bool{}
	var visit func(dir string, chain []string)
	visit = func(dir string, chain []string) {
		if seen[dir] {
			return
		}
		seen[dir] = true
		for _, imp := range imports(t, dir) {
			path := append(append([]string{}, chain...), imp)
			if rest, ours := strings.CutPrefix(imp, module+"/"); ours {
				if !allowed(l.own, rest) {
					t.Errorf("%s: %s may not import %s\n  chain: %s", l.name, folder, imp, strings.Join(path, " -> "))
					continue
				}
				visit(rest, path)
				continue
			}
			for _, d := range l.denied {
				if imp == d || (!exact[d] && strings.HasPrefix(imp, d+"/")) {
					t.Errorf("%s: %s may not reach %s\n  chain: %s", l.name, folder, imp, strings.Join(path, " -> "))
				}
			}
		}
	}
	visit(folder, []string{module + "/" + folder})
}

// TestWorkflowImports holds that workflow code imports no adapter, no activities and no
// clock or network of its own: its types come from internal/contract.
func TestWorkflowImports(t *testing.T) {
	own := append(append([]string{"internal/contract", "experiments", "workflows"}, nouns...), domain...)
	for _, imp := range imports(t, "workflows") {
		if rest, ours := strings.CutPrefix(imp, module+"/"); ours {
			if !allowed(own, rest) {
				t.Errorf("workflows may not import %s", imp)
			}
			continue
		}
		if strings.HasPrefix(imp, "go.temporal.io/sdk/") {
			switch strings.TrimPrefix(imp, "go.temporal.io/sdk/") {
			case "workflow", "temporal", "log":
			default:
				t.Errorf("workflows may import only the SDK's workflow, temporal and log packages, not %s", imp)
			}
			continue
		}
		switch imp {
		case "os", "net", "net/http", "log", "log/slog", "math/rand", "math/rand/v2", "os/exec", "sync":
			t.Errorf("workflows may not import %s", imp)
		}
	}
}

// TestOnlyOnnxUsesCgo holds that exactly one package links native code.
func TestOnlyOnnxUsesCgo(t *testing.T) {
	matches, err := filepath.Glob("internal/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range append(matches, "workflows", "activities", "worker", "experiments", "cmd/cxrepro") {
		for _, imp := range imports(t, dir) {
			if strings.HasPrefix(imp, "github.com/yalue/onnxruntime_go") && filepath.ToSlash(dir) != "internal/onnx" {
				t.Errorf("%s imports %s: only internal/onnx may", dir, imp)
			}
		}
	}
}

// imports returns the direct imports of the package in dir, sorted; a folder without Go
// files has none.
func imports(t *testing.T, dir string) []string {
	t.Helper()
	pkg, err := build.ImportDir(dir, 0)
	if err != nil {
		if _, none := err.(*build.NoGoError); none {
			return nil
		}
		if pkg == nil || len(pkg.Imports) == 0 {
			return nil
		}
	}
	out := append([]string{}, pkg.Imports...)
	sort.Strings(out)
	return out
}

func allowed(list []string, folder string) bool {
	for _, a := range list {
		if a == folder || (strings.HasSuffix(a, "/") && strings.HasPrefix(folder, a)) {
			return true
		}
	}
	return false
}
