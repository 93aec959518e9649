package artifacts

import (
	"testing"

	"pgregory.net/rapid"
)

// TestKeyText: what is written directly is what Canonical writes.
func TestKeyText(t *testing.T) {
	type named string
	var values func(depth int) *rapid.Generator[any]
	values = func(depth int) *rapid.Generator[any] {
		kinds := []*rapid.Generator[any]{
			rapid.String().AsAny(), rapid.StringMatching(`[ -~\x7f\x1f]{0,6}`).AsAny(), rapid.Int().AsAny(), rapid.Int64().AsAny(), rapid.Bool().AsAny(), rapid.Uint64().AsAny(),
			rapid.Float64().AsAny(), rapid.SampledFrom([]any{nil, map[string]any(nil), Digest{}, Sum(nil), named("a\"b"), []string{"x", "<&>"}, &struct{ B, A int }{1, 2}, map[string]string{"b": "é", "a": ""}}),
		}
		if depth > 0 {
			kinds = append(kinds, rapid.MapOfN(rapid.String(), values(depth-1), 0, 4).AsAny(), rapid.MapOfN(rapid.StringMatching(`[a-z]{1,4}`), values(depth-1), 0, 4).AsAny())
		}
		return rapid.OneOf(kinds...)
	}
	rapid.Check(t, func(rt *rapid.T) {
		k := KeyDoc{Step: "s-t.u_1", Version: rapid.IntRange(1, 99).Draw(rt, "version"), Params: rapid.MapOfN(rapid.String(), values(2), 0, 4).Draw(rt, "params")}
		inputs := []Material{{rapid.String().Draw(rt, "name"), Sum([]byte("x"))}, {"z", Sum([]byte("y"))}}
		got, err := appendKeyDoc(nil, &k, inputs)
		want, werr := Canonical(map[string]any{"format": keyFormat, "step": k.Step, "version": k.Version, "params": k.Params, "inputs": inputs})
		if (err == nil) != (werr == nil) || err == nil && string(got) != string(want) {
			rt.Fatalf("got %s, %v\nwant %s, %v", got, err, want, werr)
		}
	})
}
