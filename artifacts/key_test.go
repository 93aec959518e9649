package artifacts_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cxrepro/artifacts"
)

// full is a key document that uses everything a key document can hold.
func full() artifacts.KeyDoc {
	return artifacts.KeyDoc{
		Step: "assess-window", Version: 3,
		Params: map[string]any{
			"preset":     "corrected",
			"thresholds": map[string]any{"cardiomegaly.ctr_pa": 0.5, "rows": []any{1, "two", nil, true}},
			"limit":      int64(1) << 60,
			"ratio":      0.1,
		},
		Inputs: []artifacts.Material{
			{Name: "masks", Digest: artifacts.Sum([]byte("masks"))},
			{Name: "image", Digest: artifacts.Sum([]byte("image"))},
		},
	}
}

// TestPinnedKeys pins keys as literals. A change here makes every stored record
// unreachable: it needs a new key format and a design note, not a new literal. The
// literals were made by another program (Python's json.dumps with sorted names, and
// hashlib).
func TestPinnedKeys(t *testing.T) {
	for _, c := range []struct {
		doc  artifacts.KeyDoc
		text string
		key  string
	}{
		{artifacts.KeyDoc{Step: "ingest", Version: 1},
			`{"format":"cxrepro.key/1","inputs":[],"params":{},"step":"ingest","version":1}`,
			"ingest/sha256:a3ed9ef0d486d4377a634cc79b0dcaaf9e3585ae20cbfd1045d0da1623613022"},
		{full(),
			`{"format":"cxrepro.key/1","inputs":[{"digest":"sha256:6105d6cc76af400325e94d588ce511be5bfdbb73b437dc51eca43917d7a43e3d","name":"image"},{"digest":"sha256:07368dcb59c33d889e61393ebc16fa174951aa424bf07c4f64dbb974e417726a","name":"masks"}],"params":{"limit":1152921504606846976,"preset":"corrected","ratio":0.1,"thresholds":{"cardiomegaly.ctr_pa":0.5,"rows":[1,"two",null,true]}},"step":"assess-window","version":3}`,
			"assess-window/sha256:dd19176129218857714be8e26257ec3b5c524503770de84f6c248cdbabe48169"},
	} {
		text, err := c.doc.Canonical()
		if err != nil {
			t.Fatal(err)
		}
		key, err := c.doc.Key()
		if err != nil {
			t.Fatal(err)
		}
		if string(text) != c.text {
			t.Errorf("document\n got %s\nwant %s", text, c.text)
		}
		if key.String() != c.key {
			t.Errorf("key\n got %s\nwant %s", key, c.key)
		}
	}
}

// doc draws a key document.
func doc(rt *rapid.T) artifacts.KeyDoc {
	names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z/0-9]{1,8}`), 0, 4, rapid.ID[string]).Draw(rt, "inputs")
	d := artifacts.KeyDoc{
		Step:    rapid.StringMatching(`[a-z][a-z0-9-]{0,8}`).Draw(rt, "step"),
		Version: rapid.IntRange(1, 9).Draw(rt, "version"),
		Params:  rapid.MapOfN(rapid.StringMatching(`[a-z_.]{1,6}`), value(2), 0, 5).Draw(rt, "params"),
	}
	for _, n := range names {
		d.Inputs = append(d.Inputs, artifacts.Material{Name: n, Digest: artifacts.Sum([]byte(n + rapid.String().Draw(rt, n)))})
	}
	return d
}

func clone(d artifacts.KeyDoc) artifacts.KeyDoc {
	d.Params = maps.Clone(d.Params)
	d.Inputs = slices.Clone(d.Inputs)
	return d
}

func mustKey(t interface{ Fatal(...any) }, d artifacts.KeyDoc) artifacts.Key {
	k, err := d.Key()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestAnyFieldChangesTheKey changes one field at a time: the key must change each time.
func TestAnyFieldChangesTheKey(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		base := doc(rt)
		key := mustKey(rt, base)
		changed := map[string]artifacts.KeyDoc{}
		change := func(name string, fn func(*artifacts.KeyDoc)) {
			d := clone(base)
			fn(&d)
			changed[name] = d
		}
		change("step", func(d *artifacts.KeyDoc) { d.Step += "x" })
		change("version", func(d *artifacts.KeyDoc) { d.Version++ })
		change("new parameter", func(d *artifacts.KeyDoc) {
			if d.Params == nil {
				d.Params = map[string]any{}
			}
			d.Params["zzzzzzz"] = nil
		})
		change("new input", func(d *artifacts.KeyDoc) {
			d.Inputs = append(d.Inputs, artifacts.Material{Name: "ZZZ", Digest: artifacts.Sum(nil)})
		})
		for name, v := range base.Params {
			change("parameter "+name, func(d *artifacts.KeyDoc) { d.Params[name] = []any{v} })
			change("without parameter "+name, func(d *artifacts.KeyDoc) { delete(d.Params, name) })
			change("renamed parameter "+name, func(d *artifacts.KeyDoc) { delete(d.Params, name); d.Params[name+"Z"] = v })
		}
		for i := range base.Inputs {
			change(fmt.Sprint("digest of input ", i), func(d *artifacts.KeyDoc) { d.Inputs[i].Digest[31] ^= 1 })
			change(fmt.Sprint("name of input ", i), func(d *artifacts.KeyDoc) { d.Inputs[i].Name += "Z" })
			change(fmt.Sprint("without input ", i), func(d *artifacts.KeyDoc) { d.Inputs = slices.Delete(d.Inputs, i, i+1) })
		}
		keys := map[artifacts.Key]string{key: "nothing"}
		for _, name := range slices.Sorted(maps.Keys(changed)) {
			k := mustKey(rt, changed[name])
			if other, dup := keys[k]; dup && other == "nothing" {
				rt.Fatalf("%s changed and the key did not", name)
			}
			keys[k] = name
		}
	})
}

// TestOrderDoesNotChangeTheKey shuffles inputs and rebuilds the maps.
func TestOrderDoesNotChangeTheKey(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		base := doc(rt)
		want := mustKey(rt, base)
		shuffled := base
		shuffled.Inputs = rapid.Permutation(base.Inputs).Draw(rt, "order")
		shuffled.Params = map[string]any{}
		for _, name := range rapid.Permutation(slices.Collect(maps.Keys(base.Params))).Draw(rt, "names") {
			shuffled.Params[name] = base.Params[name]
		}
		if got := mustKey(rt, shuffled); got != want {
			rt.Fatalf("got %s, want %s", got, want)
		}
		// Also when the parameters went through JSON, as a workflow's input does.
		var back artifacts.KeyDoc
		text, err := json.Marshal(base)
		if err != nil {
			rt.Fatal(err)
		}
		dec := json.NewDecoder(strings.NewReader(string(text)))
		dec.UseNumber()
		if err := dec.Decode(&back); err != nil {
			rt.Fatal(err)
		}
		if got := mustKey(rt, back); got != want {
			rt.Fatalf("after JSON: got %s, want %s", got, want)
		}
	})
}

func TestKeyDocRefuses(t *testing.T) {
	d := artifacts.Sum([]byte("x"))
	for name, doc := range map[string]artifacts.KeyDoc{
		"no step":          {Version: 1},
		"step with slash":  {Step: "a/b", Version: 1},
		"step with upper":  {Step: "Ingest", Version: 1},
		"digit first":      {Step: "1a", Version: 1},
		"no version":       {Step: "a"},
		"unnamed input":    {Step: "a", Version: 1, Inputs: []artifacts.Material{{Digest: d}}},
		"no digest":        {Step: "a", Version: 1, Inputs: []artifacts.Material{{Name: "x"}}},
		"same input twice": {Step: "a", Version: 1, Inputs: []artifacts.Material{{Name: "x", Digest: d}, {Name: "x", Digest: d}}},
		"no JSON":          {Step: "a", Version: 1, Params: map[string]any{"x": func() {}}},
	} {
		if k, err := doc.Key(); err == nil {
			t.Errorf("%s: accepted as %s", name, k)
		}
	}
}

func TestDigestText(t *testing.T) {
	good := artifacts.Sum([]byte("x")).String()
	if d, err := artifacts.ParseDigest(good); err != nil || d.String() != good || d.Short() != good[7:19] {
		t.Errorf("%s: %v, %v", good, d, err)
	}
	for name, s := range map[string]string{
		"empty": "", "no prefix": good[7:], "upper case": strings.ToUpper(good), "short": good[:70], "long": good + "0",
		"other algorithm": "sha512:" + good[7:], "zero": "sha256:" + strings.Repeat("0", 64), "no digit": good[:70] + "g",
	} {
		if d, err := artifacts.ParseDigest(s); err == nil {
			t.Errorf("%s: accepted as %s", name, d)
		}
	}
	for _, s := range []string{"", "step", "step/", "/" + good, "Step/" + good, "step/" + good + "/x", "step/sha256:12"} {
		if k, err := artifacts.ParseKey(s); err == nil {
			t.Errorf("key %q: accepted as %s", s, k)
		}
	}
	want := artifacts.Key{Step: "a-b", Digest: artifacts.Sum(nil)}
	if k, err := artifacts.ParseKey(want.String()); err != nil || k != want {
		t.Errorf("key %s: %v, %v", want, k, err)
	}
	// Digests and keys may name the members of a JSON object.
	b, err := json.Marshal(map[artifacts.Digest]artifacts.Key{want.Digest: want})
	var back map[artifacts.Digest]artifacts.Key
	if err != nil || json.Unmarshal(b, &back) != nil || back[want.Digest] != want {
		t.Errorf("as JSON: %s, %v", b, err)
	}
}
