package anatomy

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cxrepro/internal/mask"
)

func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range All() {
		if s.Name() == "" || s.Key() == "" || seen[s.Name()] || seen[s.Key()+" key"] {
			t.Errorf("structure %d: name %q, key %q", s, s.Name(), s.Key())
		}
		seen[s.Name()], seen[s.Key()+" key"] = true, true
		if got, ok := ByName(s.Name()); !ok || got != s {
			t.Errorf("%q is found as %d", s.Name(), got)
		}
		if got, ok := ByKey(s.Key()); !ok || got != s {
			t.Errorf("key %q is found as %d", s.Key(), got)
		}
		if got, ok := FromClassID(s.ClassID()); !ok || got != s {
			t.Errorf("class %d is found as %d", s.ClassID(), got)
		}
		// A side is in the name as a word, or there is none.
		words := strings.Fields(s.Name())
		want := SideNone
		if slices.Contains(words, "right") {
			want = SideRight
		} else if slices.Contains(words, "left") {
			want = SideLeft
		}
		if s.Side() != want {
			t.Errorf("%q has side %v, want %v", s.Name(), s.Side(), want)
		}
		if s.Key() != strings.ToLower(strings.ReplaceAll(s.Name(), " ", "_")) {
			t.Errorf("%q has key %q", s.Name(), s.Key())
		}
	}
	if len(seen) != 2*Count {
		t.Errorf("%d names and keys", len(seen))
	}
}

// Class numbers that the published table of tasks states.
func TestClassIDs(t *testing.T) {
	for s, id := range map[Structure]int{
		Spine: 0, VertebraT1: 11, VertebraT7: 17, VertebraT12: 22, LeftClavicle: 31, RightClavicle: 32, LeftScapula: 34, RightScapula: 35,
		RightPosterior12thRib: 36, LeftPosterior12thRib: 37, RightPosterior11thRib: 39, RightPosterior1stRib: 79, LeftPosterior1stRib: 81, TwelfthRib: 82,
		LeftHemidiaphragm: 106, RightHemidiaphragm: 107, UpperMediastinum: 116, Heart: 121, AscendingAorta: 128,
		DescendingAorta: 129, AorticArch: 130, Lung: 134, RightLung: 135, LeftLung: 136, Trachea: 154, TrachealBifurcation: 155, RightBreast: 158,
	} {
		if s.ClassID() != id {
			t.Errorf("%s has class %d, want %d", s, s.ClassID(), id)
		}
	}
	for i, id := range []int{79, 75, 71, 67, 63, 59, 55, 51, 47, 43, 39, 36} {
		if s := RightPosteriorRib(i + 1); s.ClassID() != id || s.Side() != SideRight {
			t.Errorf("right posterior rib %d is %s", i+1, s)
		}
	}
	for n := 1; n <= 12; n++ {
		if s := ThoracicVertebra(n); s.ClassID() != 10+n {
			t.Errorf("T%d is %s", n, s)
		}
	}
	for _, s := range []Structure{0, Count + 1, RightPosteriorRib(0), RightPosteriorRib(13), ThoracicVertebra(0), ThoracicVertebra(13)} {
		if s.Valid() {
			t.Errorf("%d is valid", s)
		}
		if _, err := s.MarshalText(); err == nil || s.Side() != 0 || !strings.Contains(s.Name(), "invalid") || !strings.Contains(s.Key(), "invalid") {
			t.Errorf("%d has text", s)
		}
	}
	for _, id := range []int{-1, Count} {
		if _, ok := FromClassID(id); ok {
			t.Errorf("class %d exists", id)
		}
	}
}

func TestText(t *testing.T) {
	var s Structure
	if err := s.UnmarshalText([]byte("rib_cartilage")); err != nil || s != RibCartilage {
		t.Errorf("%v, %v", s, err)
	}
	for _, bad := range []string{"", "Heart", "right_lung", "lung right"} {
		if err := s.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q accepted", bad)
		}
	}
	for side, want := range map[Side]string{SideNone: "none", SideRight: "right", SideLeft: "left", 0: "invalid side 0"} {
		if side.String() != want {
			t.Errorf("side %d is %q", side, side)
		}
	}
}

func TestGroups(t *testing.T) {
	filter := FilterStructures()
	if len(filter) != 97 || FilterSet().Len() != 97 {
		t.Errorf("%d structures in the filter list, want 97", len(filter))
	}
	for _, s := range []Structure{ThoracicSpine, LeftPosterior12thRib, RightAnterior1stRib, LeftLungUpperLobe, PulmonaryArtery, RightApicalZoneLung} {
		if !FilterSet().Has(s) {
			t.Errorf("%s is not in the filter list", s)
		}
	}
	for _, s := range []Structure{Spine, Lung, Aorta, TwelfthRib, HeartMyocardium, AnteriorMediastinum, Breast, UpperZoneLung, Posterior5thRib} {
		if FilterSet().Has(s) {
			t.Errorf("%s is in the filter list", s)
		}
	}
	if n := len(TaskStructures()); n != 33 {
		t.Errorf("%d structures in the tasks, want 33", n)
	}
	if TaskSet().Minus(FilterSet()) != (Set{}) {
		t.Error("a task structure is not in the filter list")
	}
	if AllSet().Len() != Count || AllSet().And(TaskSet()) != TaskSet() {
		t.Error("the set of all")
	}
	if (Set{}).With(0).With(Count+1) != (Set{}) || (Set{}).Has(0) {
		t.Error("an invalid structure is in a set")
	}
}

func sample(t testing.TB) *Masks {
	t.Helper()
	m, err := NewMasks(6, 4, 18, 8, TaskSet())
	if err != nil {
		t.Fatal(err)
	}
	for s, f := range map[Structure]func(x, y int) bool{
		Heart:     func(x, y int) bool { return x > 2 && y > 1 },
		RightLung: func(x, y int) bool { return (x+y)%3 == 0 },
		LeftLung:  func(x, y int) bool { return false },
	} {
		if err := m.Put(s, mask.FromFunc(6, 4, f)); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func TestMasks(t *testing.T) {
	m := sample(t)
	if m.Present() != SetOf(Heart, RightLung) {
		t.Errorf("present %v", m.Present().List())
	}
	for _, s := range []Structure{LeftLung, Trachea, Breast, 0, 200} {
		if k := m.Mask(s); !k.IsEmpty() || k.W != 6 || k.H != 4 {
			t.Errorf("mask of %d is %v", s, k)
		}
	}
	if err := m.Put(Breast, mask.Empty(6, 4)); err == nil || !strings.Contains(err.Error(), `"breast"`) {
		t.Errorf("undeclared structure: %v", err)
	}
	if err := m.Put(Heart, mask.Empty(6, 5)); err == nil || !strings.Contains(err.Error(), "6x5") {
		t.Errorf("other grid: %v", err)
	}
	if err := m.Put(0, mask.Empty(6, 4)); err == nil {
		t.Error("invalid structure accepted")
	}
	if _, err := NewMasks(6, 0, 1, 1, Set{}); err == nil {
		t.Error("empty grid accepted")
	}
}

func TestNative(t *testing.T) {
	m := sample(t)
	n, err := m.Native()
	if err != nil {
		t.Fatal(err)
	}
	if n.GridW != 18 || n.GridH != 8 || n.Declared != m.Declared || n.Present() != m.Present() {
		t.Errorf("native grid %dx%d", n.GridW, n.GridH)
	}
	cols, rows := mask.NearestIndex(6, 18), mask.NearestIndex(4, 8)
	for _, s := range []Structure{Heart, RightLung, LeftLung} {
		want := mask.FromFunc(18, 8, func(x, y int) bool { return m.Mask(s).At(int(cols[x]), int(rows[y])) })
		if !n.Mask(s).Equal(want) {
			t.Errorf("native mask of %s", s)
		}
	}
	if again, err := n.Native(); err != nil || again != n {
		t.Errorf("native of native: %v", err)
	}
	m.Resize = "bilinear"
	if _, err := m.Native(); err == nil || !strings.Contains(err.Error(), `"bilinear"`) {
		t.Errorf("unknown rule: %v", err)
	}
}

func TestRecord(t *testing.T) {
	m := sample(t)
	b := m.Encode()
	back, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if back.GridW != 6 || back.GridH != 4 || back.NativeW != 18 || back.NativeH != 8 || back.Resize != m.Resize || back.Declared != m.Declared {
		t.Errorf("head %+v", back)
	}
	for _, s := range All() {
		if !back.Mask(s).Equal(m.Mask(s)) {
			t.Errorf("mask of %s changed", s)
		}
	}
	if !bytes.Equal(back.Encode(), b) {
		t.Error("the record changes when written again")
	}
	// Order of filling does not matter.
	other, _ := NewMasks(6, 4, 18, 8, TaskSet())
	for _, s := range []Structure{RightLung, Heart} {
		_ = other.Put(s, m.Mask(s))
	}
	if !bytes.Equal(other.Encode(), b) {
		t.Error("equal masks give different bytes")
	}
	for i := range b {
		if _, err := Decode(b[:i]); !errors.Is(err, ErrRecord) {
			t.Fatalf("%d of %d bytes: %v", i, len(b), err)
		}
	}
	if _, err := Decode(append(b, 0)); !errors.Is(err, ErrRecord) {
		t.Errorf("one byte more: %v", err)
	}
	next := bytes.Clone(b)
	next[len(magic)-1] = 2
	if _, err := Decode(next); err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("next version: %v", err)
	}
}

// TestRecordPinned pins the stored form; a change needs a new version byte.
func TestRecordPinned(t *testing.T) {
	m, _ := NewMasks(4, 2, 8, 4, SetOf(Spine, Heart))
	_ = m.Put(Heart, mask.FromFunc(4, 2, func(x, y int) bool { return x == 1 }))
	want := "cxmasks\x01" + "\x04\x02\x08\x04" + "\x15nearest-float32-floor" +
		"\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00" +
		"\x01" + "\x7a" + "\x02\x00\x01\x01\x01\x01"
	if got := string(m.Encode()); got != want {
		t.Errorf("record\n%q, want\n%q", got, want)
	}
}

func TestRecordRoundTripProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 12).Draw(t, "w"), rapid.IntRange(1, 12).Draw(t, "h")
		m, err := NewMasks(w, h, rapid.IntRange(1, 40).Draw(t, "nw"), rapid.IntRange(1, 40).Draw(t, "nh"), AllSet())
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range rapid.SliceOfN(rapid.IntRange(1, Count), 0, 8).Draw(t, "structures") {
			bits := rapid.Uint64().Draw(t, "bits")
			k := mask.FromFunc(w, h, func(x, y int) bool { return bits>>((y*w+x)%64)&1 != 0 })
			if err := m.Put(Structure(id), k); err != nil {
				t.Fatal(err)
			}
		}
		back, err := Decode(m.Encode())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range All() {
			if !back.Mask(s).Equal(m.Mask(s)) {
				t.Fatalf("mask of %s changed", s)
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add(sample(f).Encode())
	m, _ := NewMasks(1, 1, 1, 1, Set{})
	f.Add(m.Encode())
	f.Add([]byte("cxmasks\x01\xff\xff\x03\xff\xff\x03\x01\x01\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Decode(data)
		if err != nil {
			return
		}
		if !bytes.Equal(m.Encode(), data) {
			t.Fatal("a record is read that is not written like this")
		}
	})
}
