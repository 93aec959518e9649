package chexstruct

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/cxr"
	"cxrepro/internal/geom"
)

// smallCase is a complete case of 4 rows and 3 columns.
const smallCase = `{"format": "chexstruct-case-1", "id": "small", "size": [4, 3], "view": "AP", "native_width": 30, "image": "small.png",
	"boxes": {"cardiac silhouette": [0, 1, 2, 3]}, "masks": {"heart": [5, 2, 5]}, "chexmask": {"right lung": [0, 12]}}`

func smallFS(t testing.TB, caseText string) fs.FS {
	t.Helper()
	img := cxr.NewImage(3, 4)
	img.Pix[4] = 9
	picture, err := cxr.EncodePNG(img)
	if err != nil {
		t.Fatal(err)
	}
	return fstest.MapFS{"cases/small.json": {Data: []byte(caseText)}, "cases/small.png": {Data: picture}, "cases/text.png": {Data: []byte("no picture")}}
}

func TestReadCase(t *testing.T) {
	c, err := ReadCase(smallFS(t, smallCase), "cases/small.json")
	if err != nil {
		t.Fatal(err)
	}
	in := c.Input
	if c.Name != "small.json" || c.ID != "small" || in.View != cxr.ViewAP || in.NativeWidth != 30 || in.Masks.GridW != 3 || in.Masks.GridH != 4 {
		t.Errorf("case %+v", c)
	}
	if in.Boxes[BoxCardiacSilhouette] != (geom.Box{X0: 0, Y0: 1, X1: 2, Y1: 3}) {
		t.Errorf("boxes %v", in.Boxes)
	}
	// Column-major: 5 unset = column 0 and (1,0); then (1,1) and (1,2).
	if h := in.Masks.Mask(anatomy.Heart); h.Area() != 2 || !h.At(1, 1) || !h.At(1, 2) {
		t.Errorf("heart %v", h)
	}
	if in.CheXmaskRightLung.Area() != 12 || in.Facts.NonZero.Area() != 1 || !in.Facts.NonZero.At(1, 1) {
		t.Errorf("second lung %v, picture %v", in.CheXmaskRightLung, in.Facts.NonZero)
	}
}

// What a case may leave out.
func TestReadCaseSparse(t *testing.T) {
	for name, text := range map[string]string{
		"no view":      strings.Replace(smallCase, `"view": "AP", `, "", 1),
		"null view":    strings.Replace(smallCase, `"AP"`, "null", 1),
		"no width":     strings.Replace(smallCase, `"native_width": 30, `, "", 1),
		"null width":   strings.Replace(smallCase, `"native_width": 30`, `"native_width": null`, 1),
		"no picture":   strings.Replace(smallCase, `"image": "small.png",`, "", 1),
		"null picture": strings.Replace(smallCase, `"small.png"`, "null", 1),
		"no boxes":     strings.Replace(smallCase, `"boxes": {"cardiac silhouette": [0, 1, 2, 3]}, `, "", 1),
		"null box":     strings.Replace(smallCase, "[0, 1, 2, 3]", "null", 1),
		"no chexmask":  strings.Replace(smallCase, `, "chexmask": {"right lung": [0, 12]}`, "", 1),
		"other view":   strings.Replace(smallCase, `"AP"`, `"upside down"`, 1),
		"whole floats": strings.Replace(smallCase, "[0, 1, 2, 3]", "[0.0, 1.0, 2, 3]", 1),
	} {
		if _, err := ReadCase(smallFS(t, text), "cases/small.json"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	c, err := ParseCase("x.json", []byte(strings.Replace(smallCase, `"AP"`, `"upside down"`, 1)))
	if err != nil || c.Input.View != cxr.ViewOther {
		t.Errorf("unknown view is %v (%v)", c.Input.View, err)
	}
}

// TestReadCaseErrors: each fault names the file and the field.
func TestReadCaseErrors(t *testing.T) {
	change := func(old, new string) string {
		if !strings.Contains(smallCase, old) {
			t.Fatalf("the case has no %q", old)
		}
		return strings.Replace(smallCase, old, new, 1)
	}
	for name, c := range map[string]struct{ text, field, want string }{
		"not json":         {"{", "", "not a case file"},
		"two values":       {smallCase + "{}", "", "more than one"},
		"unknown field":    {change(`"id"`, `"ident"`), "", `"ident"`},
		"other type":       {change(`[4, 3]`, `"4x3"`), "", "size"},
		"format":           {change("case-1", "case-2"), "format", `"chexstruct-case-2", want "chexstruct-case-1"`},
		"size":             {change("[4, 3]", "[4]"), "size", "[height, width]"},
		"huge size":        {change("[4, 3]", "[4, 100000]"), "size", "16384"},
		"native width":     {change("30", "0"), "native_width", "at least 1"},
		"path as picture":  {change(`small.png"`, `../small.png"`), "image", "plain name"},
		"lost picture":     {change("small.png", "lost.png"), "image", "lost.png"},
		"text as picture":  {change("small.png", "text.png"), "image", "text.png"},
		"other grid":       {change("[4, 3]", "[3, 4]"), "image", "3x4, the masks are 4x3"},
		"short box":        {change("[0, 1, 2, 3]", "[0, 1, 2]"), `boxes["cardiac silhouette"]`, "3 numbers"},
		"broken box":       {change("[0, 1, 2, 3]", "[0, 1, 2.5, 3]"), `boxes["cardiac silhouette"]`, "2.5, want a whole pixel"},
		"backward box":     {change("[0, 1, 2, 3]", "[2, 1, 0, 3]"), `boxes["cardiac silhouette"]`, "ends before it starts"},
		"unknown mask":     {change(`"heart"`, `"hart"`), `masks["hart"]`, "159 structures"},
		"long counts":      {change("[5, 2, 5]", "[5, 2, 6]"), `masks["heart"]`, "3x4 = 12"},
		"short counts":     {change("[5, 2, 5]", "[5, 2]"), `masks["heart"]`, "sum to 7"},
		"negative counts":  {change("[5, 2, 5]", "[5, -2, 9]"), `masks["heart"]`, "-2"},
		"chexmask counts":  {change("[0, 12]", "[0, 11]"), `chexmask["right lung"]`, "sum to 11"},
		"chexmask unknown": {change(`"right lung"`, `"liver"`), `chexmask["liver"]`, "right lung, left lung, heart"},
	} {
		_, err := ReadCase(smallFS(t, c.text), "cases/small.json")
		var bad *CaseError
		if !errors.As(err, &bad) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if bad.File != "cases/small.json" || bad.Field != c.field || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "cases/small.json") {
			t.Errorf("%s: field %q, message %q; want field %q and %q", name, bad.Field, err, c.field, c.want)
		}
	}
	if _, err := ReadCase(fstest.MapFS{}, "lost.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("lost case: %v", err)
	}
}

// TestInputCheck: what a caller can put together wrongly.
func TestInputCheck(t *testing.T) {
	rules := mustRules(t, Corrected, nil)
	for name, spoil := range map[string]func(in *Input){
		"no masks":     func(in *Input) { in.Masks = nil },
		"picture":      func(in *Input) { in.Facts.Width++ },
		"pixels":       func(in *Input) { in.Facts.NonZero.W++ },
		"second lung":  func(in *Input) { m := in.Facts.NonZero; m.H++; in.CheXmaskRightLung = &m },
		"view":         func(in *Input) { in.View = 99 },
		"native width": func(in *Input) { in.NativeWidth = -1 },
		"box":          func(in *Input) { in.Boxes["x"] = geom.Box{X0: 5, X1: 4} },
	} {
		in := goldenCase(t, 1).Input
		spoil(&in)
		if _, err := Assess(in, rules, nil); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	in := goldenCase(t, 1).Input
	if _, err := Assess(in, nil, nil); err == nil {
		t.Error("no rules accepted")
	}
	if _, err := Assess(in, rules, []Task{0}); err == nil {
		t.Error("an invalid task is accepted")
	}
}

func FuzzParseCase(f *testing.F) {
	f.Add([]byte(smallCase))
	f.Add([]byte(`{"format":"chexstruct-case-1","size":[1,1],"masks":{}}`))
	rules, err := NewRules(Corrected, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ParseCase("fuzz.json", data)
		if err != nil {
			return
		}
		if c.Input.Masks.GridW*c.Input.Masks.GridH > 1<<16 {
			return
		}
		facts := Facts(noise(c.Input.Masks.GridW, c.Input.Masks.GridH))
		c.Input.Facts = &facts
		res, err := Assess(c.Input, rules, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		var back Result
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(back)
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("round trip: %v", err)
		}
	})
}
