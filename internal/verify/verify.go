package verify

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/internal/attest"
	"cxrepro/internal/bundle"
)

// Items are the objects of an inventory as a ledger takes them.
func Items(list []activities.Held) []bundle.Item {
	out := make([]bundle.Item, len(list))
	for i, h := range list {
		out[i] = bundle.Item{Object: h.Object, Class: h.Class}
	}
	return out
}

// Options say what is verified, and how far.
type Options struct {
	// Store holds the reproduction: a store, or a bundle read as one. Activities look into the
	// same store and are read only.
	Store      *artifacts.Repository
	Activities *activities.Activities
	Receipt    artifacts.Ref
	// Source names where it lies, for people.
	Source string
	// Bundle is set for a bundle.
	Bundle *bundle.Opened
	// Trust holds the signers that are known.
	Trust *attest.Trust
	// Level is the highest level that is tried.
	Level int
	// Segment lets the segmentation model run at L4.
	Segment bool
	// Progress, if set, hears what is being done and how far.
	Progress func(what string, n int64)
}

// verifier is one verification.
type verifier struct {
	o      Options
	out    *Report
	audit  *activities.Audit
	ledger *bundle.Ledger
	// list is the inventory, held the same by name; gaps are documents that could not be read.
	list []activities.Held
	held map[string]activities.Held
	gaps []activities.Gap
	// bad are the objects with wrong bytes.
	bad map[string]bool
	// listed says that the ledger came along, packed or signed, and was not made from what
	// is there.
	listed bool
	// broken says that the ledger is not the one that was signed: nothing counts then.
	broken string
}

// Run verifies a reproduction. What is wrong is in the report.
//
// Errors: a receipt or a plan that cannot be read, a store that does not answer.
func Run(ctx context.Context, o Options) (*Report, error) {
	v := &verifier{o: o, out: &Report{Source: o.Source, Signatures: []Signature{}, Tables: []Table{}, Units: []Unit{}, Faults: []Fault{}}, bad: map[string]bool{}}
	if v.o.Progress == nil {
		v.o.Progress = func(string, int64) {}
	}
	if v.o.Trust == nil {
		v.o.Trust = &attest.Trust{}
	}
	if err := v.bytes(ctx); err != nil {
		return nil, err
	}
	if err := v.open(ctx); err != nil {
		return v.out, err
	}
	return v.out, v.levels(ctx)
}

// open opens the receipt. In a bundle whose receipt or plan is damaged the report ends with
// that fault.
func (v *verifier) open(ctx context.Context) (err error) {
	if v.audit == nil {
		if v.audit, err = v.o.Activities.OpenAudit(ctx, v.o.Receipt); err != nil {
			if len(v.out.Faults) > 0 {
				return nil
			}
			return err
		}
	}
	r := v.audit.Receipt()
	v.out.Reproduction, v.out.Name, v.out.Result, v.out.DataUse = r.Reproduction, r.Name, r.ResultDigest, r.DataUse
	v.out.Steps[0].Only = v.audit.NotDerived()
	return nil
}

// inventory lists what the reproduction consists of, once.
func (v *verifier) inventory(ctx context.Context) error {
	if v.held != nil {
		return nil
	}
	list, gaps, err := v.o.Activities.Inventory(ctx, v.o.Receipt)
	if err != nil {
		return err
	}
	v.list, v.gaps, v.held = list, gaps, make(map[string]activities.Held, len(list))
	for _, h := range list {
		v.held[h.Object] = h
	}
	return nil
}

// bytes is L1.
func (v *verifier) bytes(ctx context.Context) error {
	var faults []bundle.Fault
	var withheld []bundle.Leaf
	var err error
	if v.o.Bundle != nil {
		faults, withheld, err = v.file(ctx)
	} else {
		faults, err = v.store(ctx)
	}
	if err != nil {
		return err
	}
	v.out.Ledger = v.ledger.Head()
	for _, l := range v.ledger.Leaves {
		v.out.Bytes += l.Size
	}
	if err := v.name(ctx, faults); err != nil {
		return err
	}
	if err := v.missing(ctx, withheld); err != nil {
		return err
	}
	if err := v.signatures(ctx); err != nil {
		return err
	}
	if !v.listed {
		if err := v.entries(ctx, Bytes); err != nil {
			return err
		}
	}
	step := Step{Level: Bytes, Checked: int64(len(v.ledger.Leaves) - v.out.Withheld + v.out.Restored)}
	step.Done = fmt.Sprintf("%d of %d objects have the bytes of their leaves, root %s", step.Checked-int64(len(v.bad)), len(v.ledger.Leaves), v.ledger.Root.Short())
	if left := v.out.Withheld - v.out.Restored; left > 0 {
		step.Open = fmt.Sprintf("the bytes of %d objects are withheld (class %s): their digests stand in the ledger", left, v.class(withheld))
	}
	v.out.Steps = append(v.out.Steps, step)
	return nil
}

func (v *verifier) class(withheld []bundle.Leaf) string {
	for _, l := range withheld {
		if l.Class != "" && l.Class != activities.ClassWeights {
			return l.Class
		}
	}
	return activities.ClassWeights
}

// file reads every byte of a bundle.
func (v *verifier) file(ctx context.Context) ([]bundle.Fault, []bundle.Leaf, error) {
	v.ledger, v.listed = v.o.Bundle.Ledger, true
	n := int64(0)
	return v.o.Bundle.Bytes(func(each func(bundle.Scanned) error) error {
		err := v.o.Bundle.Scan(ctx, nil, func(s bundle.Scanned) error {
			if n++; n%1024 == 0 {
				v.o.Progress("bytes", n)
			}
			return each(s)
		})
		var damage *bundle.DamageError
		if errors.As(err, &damage) {
			v.out.fault(Fault{Level: Bytes, Object: damage.Object, Detail: damage.Detail})
			return nil
		}
		return err
	})
}

// store reads every object of a run: those of the ledger that was signed, or those that the
// receipt leads to.
func (v *verifier) store(ctx context.Context) ([]bundle.Fault, error) {
	progress := func(n int64) { v.o.Progress("bytes", n) }
	signed, err := v.signedLedger(ctx)
	if err != nil {
		return nil, err
	}
	if signed != nil {
		v.ledger, v.listed = signed, true
		faults, missing, err := signed.Check(ctx, v.o.Store.Bucket(), progress)
		for _, l := range missing {
			faults = append(faults, bundle.Fault{Object: l.Object, Detail: "it is not there"})
		}
		return faults, err
	}
	if err := v.inventory(ctx); err != nil {
		return nil, err
	}
	ledger, faults, err := bundle.Survey(ctx, v.o.Store.Bucket(), Items(v.list), progress)
	v.ledger = ledger
	for _, g := range v.gaps {
		if _, listed := v.held[g.Object]; !listed {
			faults = append(faults, bundle.Fault{Object: g.Object, Detail: g.Err.Error()})
		}
	}
	return faults, err
}

// missing looks for withheld bytes in the reader's own store.
func (v *verifier) missing(ctx context.Context, withheld []bundle.Leaf) error {
	v.out.Withheld = len(withheld)
	var restored []bundle.Leaf
	for _, l := range withheld {
		if l.Class == "" {
			v.out.fault(Fault{Level: Bytes, Object: l.Object, Detail: "it is not in the file, and nothing forbids that it were"})
			v.bad[l.Object] = true
			continue
		}
		switch _, err := v.o.Store.Bucket().Stat(ctx, l.Object); {
		case err == nil:
			restored = append(restored, l)
		case !errors.Is(err, artifacts.ErrNotFound):
			return err
		}
	}
	if len(restored) == 0 {
		return nil
	}
	v.out.Restored = len(restored)
	have, err := bundle.NewLedger(restored)
	if err != nil {
		return err
	}
	faults, _, err := have.Check(ctx, v.o.Store.Bucket(), func(int64) {})
	for _, f := range faults {
		v.out.fault(Fault{Level: Bytes, Object: f.Object, What: "withheld here, from the reader's own store", Detail: f.Detail})
		v.bad[f.Object] = true
	}
	return err
}

// name lists faults with what the objects are.
func (v *verifier) name(ctx context.Context, faults []bundle.Fault) error {
	if len(faults) == 0 {
		return nil
	}
	roles := map[string]activities.Held{}
	if err := v.inventory(ctx); err == nil {
		roles = v.held
	} else if errors.Is(err, context.Canceled) {
		return err
	}
	for _, g := range v.gaps {
		if _, ok := roles[g.Object]; !ok {
			roles[g.Object] = activities.Held{Object: g.Object, Role: g.Role}
		}
	}
	for _, f := range faults {
		object := f.Object
		if v.o.Bundle != nil {
			if o, ok := strings.CutPrefix(object, bundle.StorePrefix); ok {
				object = o
			}
		}
		v.bad[object] = true
		v.out.fault(Fault{Level: Bytes, Object: f.Object, What: roles[object].Role, Detail: f.Detail})
	}
	return nil
}
