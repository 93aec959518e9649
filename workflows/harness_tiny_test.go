package workflows_test

import (
	"io/fs"
	"testing"

	"cxrepro/artifacts/memstore"
	"cxrepro/internal/casedata"
	"cxrepro/internal/contract"
)

// newTinyLab has n tiny images: with 300 of them there are at least two windows.
func newTinyLab(t *testing.T, n int) *lab {
	t.Helper()
	l := &lab{t: t, store: memstore.Open(), name: "tester"}
	l.data = map[string]fs.FS{"golden-cases": casedata.FS(casedata.Tiny(t, n))}
	l.replan(casedata.TinySets()...)
	return l
}

var calmReceipts = map[int]contract.Receipt{}

// calmTiny is the receipt of an undisturbed run over n tiny images, made once.
func calmTiny(t *testing.T, n int) contract.Receipt {
	t.Helper()
	if _, ok := calmReceipts[n]; !ok {
		calmReceipts[n], _ = newTinyLab(t, n).run()
	}
	return calmReceipts[n]
}
