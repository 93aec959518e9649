package overlaystore_test

import (
	"strings"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/artifacts/memstore"
	"cxrepro/artifacts/overlaystore"
	"cxrepro/artifacts/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, storetest.Options{}, func(*testing.T) artifacts.Bucket { return overlaystore.New(memstore.New("base")) })
}

// TestBaseStays writes, replaces and deletes over a base: the base keeps every object as it was,
// and the overlay shows what was done to it.
func TestBaseStays(t *testing.T) {
	ctx, base := t.Context(), memstore.New("base")
	put := func(b artifacts.Bucket, name, text string, o artifacts.PutOptions) error {
		_, err := b.Put(ctx, name, strings.NewReader(text), o)
		return err
	}
	for _, name := range []string{"a", "b", "c"} {
		if err := put(base, name, "base", artifacts.PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	over := overlaystore.New(base)
	_, info, err := over.Read(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := put(over, "a", "no", artifacts.PutOptions{IfAbsent: true}); err == nil {
		t.Error("an object of the base was taken for absent")
	}
	if err := put(over, "a", "new", artifacts.PutOptions{IfMatch: info.Version}); err != nil {
		t.Errorf("the version of the base does not match: %v", err)
	}
	if err := put(over, "a", "again", artifacts.PutOptions{IfMatch: info.Version}); err == nil {
		t.Error("the version of the base still matches after a write")
	}
	if err := over.Delete(ctx, "b"); err != nil {
		t.Fatal(err)
	}
	if err := put(over, "bb", "new", artifacts.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	list := func(b artifacts.Bucket) (out string) {
		err := b.List(ctx, "", "", func(i artifacts.Info) error {
			data, _, err := b.Read(ctx, i.Name)
			out += i.Name + "=" + string(data) + " "
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if got := list(over); got != "a=new bb=new c=base " {
		t.Errorf("overlay %s", got)
	}
	if got := list(base); got != "a=base b=base c=base " {
		t.Errorf("base %s", got)
	}
}
