package dataset

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"cxrepro/internal/geom"
)

// scene spells one scene graph with the published keys. Corners on the 224 x 224 working
// copy are there to be ignored.
func scene(id, objects string) string {
	return fmt.Sprintf(`{"image_id":%q,"viewpoint":"PA","patient_id":1,"age_decile":"50-60","objects":[%s],"attributes":[{"bbox_name":"spine","attributes":[["x"]]}],"relationships":[]}`, id, objects)
}

func object(name, x1, y1, x2, y2 string) string {
	return fmt.Sprintf(`{"object_id":"o_%s","x1":1,"y1":2,"x2":3,"y2":4,"width":2,"height":2,"bbox_name":%q,"synsets":["C0018787"],"name":"n","original_x1":%s,"original_y1":%s,"original_x2":%s,"original_y2":%s,"original_width":9,"original_height":9}`,
		name, name, x1, y1, x2, y2)
}

func TestSceneBoxes(t *testing.T) {
	const w, h = 2544, 3056
	present := func(x0, y0, x1, y1 int, clamped bool) SceneBox {
		return SceneBox{State: BoxPresent, Box: geom.Box{X0: x0, Y0: y0, X1: x1, Y1: y1}, Clamped: clamped}
	}
	cases := []struct {
		name           string
		x1, y1, x2, y2 string
		want           SceneBox
	}{
		{"inside", "900", "1200", "1900", "2100", present(900, 1200, 1900, 2100, false)},
		{"whole picture", "0", "0", "2543", "3055", present(0, 0, 2543, 3055, false)},
		{"one past the edge", "0", "0", "2544", "3056", present(0, 0, 2543, 3055, true)},
		{"partly outside", "-50", "-1", "100", "4000", present(0, 0, 100, 3055, true)},
		{"fractions and text", "10.5", "\" 20 \"", "31.5", "40.4", present(10, 20, 32, 40, false)},
		{"exponent", "1e2", "1", "2e2", "9", present(100, 1, 200, 9, false)},
		{"no width", "100", "100", "100", "300", SceneBox{State: BoxDegenerate}},
		{"turned round", "300", "100", "100", "300", SceneBox{State: BoxDegenerate}},
		{"left of the picture", "-300", "100", "-100", "300", SceneBox{State: BoxOutside}},
		{"below the picture", "100", "3056", "300", "3300", SceneBox{State: BoxOutside}},
		{"one column is left", "2543", "100", "2700", "300", SceneBox{State: BoxOutside}},
		{"null", "null", "1", "2", "3", SceneBox{State: BoxMalformed}},
		{"words", "\"left\"", "1", "2", "3", SceneBox{State: BoxMalformed}},
		{"beyond reason", "1", "1", "1e300", "3", SceneBox{State: BoxMalformed}},
	}
	f := newFolder()
	for i, c := range cases {
		id := fmt.Sprintf("id-%d", i)
		f.put("silver_dataset/scene_graph/"+id+sceneSuffix, scene(id, object("mediastinum", "5", "5", "6", "6")+","+object(BoxHeart, c.x1, c.y1, c.x2, c.y2)))
	}
	g, err := OpenImaGenome(f)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		s, detail, err := g.Scene(fmt.Sprintf("id-%d", i), w, h)
		if err != nil || detail != "" || s.Heart != c.want {
			t.Errorf("%s: %+v %q %v, want %+v", c.name, s.Heart, detail, err, c.want)
		}
		if s.UpperMediastinum.State != BoxNotListed {
			t.Errorf("%s: a box named mediastinum passed for the upper one: %+v", c.name, s.UpperMediastinum)
		}
		if _, ok := s.Boxes()[BoxHeart]; ok != (c.want.State == BoxPresent) || len(s.Boxes()) > 1 {
			t.Errorf("%s: boxes %v", c.name, s.Boxes())
		}
	}
}

func TestDamagedScenes(t *testing.T) {
	f := newFolder()
	f.put("scene_graph/ok"+sceneSuffix, scene("ok", object(BoxUpperMediastinum, "1", "1", "9", "9")))
	f.put("scene_graph/cut"+sceneSuffix, scene("cut", "")[:40])
	f.put("scene_graph/other"+sceneSuffix, scene("somebody", ""))
	f.put("scene_graph/empty"+sceneSuffix, "")
	f.put("scene_graph/bare"+sceneSuffix, `{"image_id":"bare"}`)
	g, err := OpenImaGenome(f)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"cut": "no JSON object", "other": "names another picture", "empty": "no JSON object", "bare": "has no objects"} {
		s, detail, err := g.Scene(id, 10, 10)
		if err != nil || s.Heart.State != BoxSceneDamaged || s.UpperMediastinum.State != BoxSceneDamaged || !strings.Contains(detail, want) || strings.Contains(detail, "somebody") {
			t.Errorf("%s: %+v %q %v", id, s, detail, err)
		}
	}
	for _, id := range []string{"unknown", "../ok", ""} {
		if s, _, err := g.Scene(id, 10, 10); err != nil || s.Heart.State != BoxNoScene {
			t.Errorf("%q: %+v, %v", id, s, err)
		}
	}
	if s, _, err := g.Scene("ok", 10, 10); err != nil || s.UpperMediastinum.State != BoxPresent {
		t.Errorf("its neighbour: %+v, %v", s, err)
	}
}

func sceneZip(t testing.TB, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for n, s := range files {
		w, err := z.Create(n)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestScenesFromZip(t *testing.T) {
	f := newFolder()
	f.put("silver_dataset/scene_graph.zip", sceneZip(t, map[string]string{
		"scene_graph/a" + sceneSuffix: scene("a", object(BoxHeart, "1", "2", "8", "9")), "scene_graph/readme.txt": "x",
	}))
	g, err := OpenImaGenome(f)
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := g.Scene("a", 100, 100)
	if err != nil || s.Heart.Box != (geom.Box{X0: 1, Y0: 2, X1: 8, Y1: 9}) {
		t.Errorf("%+v, %v", s, err)
	}
	if s, _, err := g.Scene("b", 100, 100); err != nil || s.Heart.State != BoxNoScene {
		t.Errorf("an unknown id: %+v, %v", s, err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	for name, content := range map[string]string{"no zip": "PK garbage", "no scenes": sceneZip(t, map[string]string{"x": ""})} {
		f.put("silver_dataset/scene_graph.zip", content)
		var te *TableError
		if _, err := OpenImaGenome(f); !errors.As(err, &te) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNoScenes(t *testing.T) {
	f := newFolder()
	f.put("readme.txt", "x")
	var te *TableError
	if _, err := OpenImaGenome(f); !errors.As(err, &te) || !strings.Contains(te.Hint, "dataset.boxes") {
		t.Errorf("got %v", err)
	}
	f.put("scene_graph/a"+sceneSuffix, scene("a", ""))
	g, err := OpenImaGenome(brokenFS{f, "scene_graph/a" + sceneSuffix})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := g.Scene("a", 9, 9); err == nil || errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "scene_graph/a") {
		t.Errorf("a storage error must stay one and name no id: %v", err)
	}
}
