//go:build radiographs

package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"cxrepro/artifacts/storeurl"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
)

// radiographs names a folder of frontal pictures. Run with
//
//	CXREPRO_RADIOGRAPHS=FOLDER go test -tags radiographs -run TestRadiographs ./cmd/cxrepro
const radiographs = "CXREPRO_RADIOGRAPHS"

// TestRadiographs takes real pictures through the documented commands: each picture and
// task ends in a label, a quality rule that failed by name, or a reasoned absence, and the
// review sheet has a tile for it.
func TestRadiographs(t *testing.T) {
	folder := os.Getenv(radiographs)
	if folder == "" {
		t.Fatalf("name a folder of frontal radiographs by %s", radiographs)
	}
	var pictures []string
	for _, pattern := range []string{"*.png", "*.jpg", "*.jpeg"} {
		found, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			t.Fatal(err)
		}
		pictures = append(pictures, found...)
	}
	if len(pictures) == 0 {
		t.Fatalf("%s holds no PNG or JPEG", folder)
	}
	spec, err := filepath.Abs("../../experiments/radiographs/spec.yaml")
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: t.TempDir(), spec: spec, data: []string{"--data", "radiographs=set"}}
	b.state = filepath.Join(b.dir, "state")
	out, err := b.command(append([]string{"dataset", "layout", "--out", "set", "--view", "PA", "--data-use", "public_attribution"}, pictures...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("layout: %v\n%s", err, out)
	}
	code, r, talk := b.run()
	if code != exitOK || r.Images.Kept != len(pictures) {
		t.Fatalf("exit %d, %+v, want %d kept\n%s", code, r, len(pictures), talk)
	}
	store, err := storeurl.Open(context.Background(), filepath.Join(b.state, "store"), storeurl.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	err = eachWindow(context.Background(), store, r, func(w windowRows) error {
		for task, rows := range w.Rows {
			if d, ok := chexstruct.ParseTask(task); !ok || !d.Diagnostic() {
				continue
			}
			for i, row := range rows {
				var f struct {
					Status        string
					Reason, Label *string
					Failed        []string
				}
				if err := json.Unmarshal(row.Finding, &f); err != nil {
					return err
				}
				reasoned := f.Status == "ok" && f.Label != nil || f.Status == "qc_failed" && len(f.Failed) > 0 ||
					(f.Status == "not_evaluable" || f.Status == "undecided") && f.Reason != nil
				if !reasoned {
					t.Errorf("case %d, %s: %s without a label or a reason: %s", w.Entries[i].Case, task, f.Status, row.Finding)
				}
				seen[f.Status]++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, n := range seen {
		total += n
	}
	if want := 12 * len(pictures); total != want {
		t.Errorf("%d outcomes, want 12 of each picture: %v", total, seen)
	}
	tiles, err := filepath.Glob(filepath.Join(b.state, "reports", r.Reproduction, "review", "img", "case-1-*.png"))
	if err != nil || len(tiles) < 12+4 {
		t.Errorf("%d tiles of case 1, want one per task and filter rule (%v)", len(tiles), err)
	}
	t.Logf("%d pictures: %v; segment %+v", len(pictures), seen, stepCount(r, contract.StepSegment))
}
