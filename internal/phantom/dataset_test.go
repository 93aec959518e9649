package phantom

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/cxr"
	"cxrepro/internal/dataset"
	"cxrepro/internal/datause"
)

// small keeps the pictures of these tests at about 230 x 270 pixels.
var small = DatasetOptions{Seed: 7, Sizing: Sizing{Pitch: 1.6}, Cases: true}

// written is a data set in memory.
func written(t *testing.T, n int, o DatasetOptions) (fstest.MapFS, []*Study, Summary) {
	t.Helper()
	out := fstest.MapFS{}
	put := func(files []File) {
		for _, f := range files {
			require.NotContains(t, out, f.Name, "written twice")
			out[f.Name] = &fstest.MapFile{Data: f.Data}
		}
	}
	var tables Tables
	var studies []*Study
	for i := range n {
		s, err := NewStudy(i, o)
		require.NoError(t, err)
		put(s.Files)
		tables.Add(s)
		studies = append(studies, s)
	}
	files, sum, err := tables.Files(o)
	require.NoError(t, err)
	put(files)
	return out, studies, sum
}

func sub(t *testing.T, fsys fs.FS, folder string) fs.FS {
	t.Helper()
	s, err := fs.Sub(fsys, folder)
	require.NoError(t, err)
	return s
}

// Our own readers of the published layouts take the folder as it stands.
func TestDatasetReadsBack(t *testing.T) {
	fsys, studies, sum := written(t, 9, small)
	require.Equal(t, Summary{Format: "phantom-dataset-1", Appearance: AppearanceVersion, Seed: 7, Images: 11, Frontal: 9, Lateral: 1, NoView: 1}, sum)

	images := sub(t, fsys, FolderImages)
	frontal := dataset.Selection{Views: []cxr.ViewPosition{cxr.ViewPA, cxr.ViewAP}}
	report, err := dataset.Check(images, dataset.CheckOptions{Selection: frontal, Depth: dataset.DepthPixels, Orphans: true})
	require.NoError(t, err)
	require.NoError(t, report.Accounting.Check())
	require.Equal(t, datause.Synthetic, report.DataUse)
	require.Empty(t, report.Problems)
	require.EqualValues(t, 9, report.Accounting.Count(dataset.Kept))
	require.EqualValues(t, 1, report.Accounting.Count(dataset.ViewNotSelected))
	require.EqualValues(t, 1, report.Accounting.Count(dataset.ViewUnknown))

	m, err := dataset.OpenMIMIC(images, dataset.MIMICOptions{Selection: frontal})
	require.NoError(t, err)
	labels, ok, err := m.Labels()
	require.NoError(t, err)
	require.True(t, ok)
	for _, s := range studies {
		im := s.Images[0]
		l, ok := labels.Study(im.Subject, im.Study)
		require.True(t, ok)
		for f, want := range s.Labels {
			require.True(t, want)
			require.Equal(t, dataset.MentionPositive, l[f], "%s of study %d", f, s.Index)
		}
	}
}

func TestCompanionsReadBack(t *testing.T) {
	fsys, studies, _ := written(t, 9, small)
	scenes, err := dataset.OpenImaGenome(sub(t, fsys, FolderImaGenome))
	require.NoError(t, err)
	defer scenes.Close()
	cx, err := dataset.OpenCheXmask(sub(t, fsys, FolderCheXmask), "OriginalResolution/MIMIC-CXR-JPG.csv", dataset.CheXmaskOptions{})
	require.NoError(t, err)
	index, err := cx.BuildIndex()
	require.NoError(t, err)
	require.Equal(t, 9, index.Len())
	near := 0
	for i, s := range studies {
		im := s.Images[0]
		pic, err := New(7, i, Options{}).Picture(im.Width, im.Height)
		require.NoError(t, err)
		scene, detail, err := scenes.Scene(im.ID, im.Width, im.Height)
		require.NoError(t, err)
		require.Empty(t, detail)
		if b, ok := pic.Masks.Mask(anatomy.Heart).Box(); ok && scene.Heart.State == dataset.BoxPresent && scene.Heart.Box.IoU(b) > 0.8 {
			near++
		}
		row, ok, err := cx.Lookup(index, im.ID)
		require.NoError(t, err)
		require.True(t, ok)
		got := row.Mask(dataset.OrganRightLung, im.Width, im.Height, 0.7)
		require.Equal(t, dataset.OrganAsPublished, got.State, "%s", got.Detail)
		require.True(t, got.Mask.Equal(visibleOrgans(pic.Masks).right), "right lung of phantom %d", i)
		// with the sides exchanged the mask is rebuilt from the landmarks: nearly the same
		turned := row
		turned.Height, turned.Width = row.Width, row.Height
		rebuilt := turned.Mask(dataset.OrganRightLung, im.Width, im.Height, 0.7)
		if im.Width == im.Height || got.Mask.IsEmpty() {
			continue
		}
		require.Equal(t, dataset.OrganRebuilt, rebuilt.State, "%s", rebuilt.Detail)
		dice := 2 * float64(rebuilt.Mask.AndArea(got.Mask)) / float64(rebuilt.Mask.Area()+got.Mask.Area())
		require.Greater(t, dice, 0.9, "phantom %d", i) // 44 points on an outline
	}
	require.Greater(t, near, 5, "most heart boxes lie near the heart")
}

// A case file is what the measurement command reads, picture included.
func TestCaseFilesReadBack(t *testing.T) {
	fsys, studies, _ := written(t, 3, small)
	for i, s := range studies {
		im := s.Images[0]
		name := FolderTruth + "/" + im.ID + ".json"
		c, err := chexstruct.ReadCase(fsys, name)
		require.NoError(t, err)
		pic, err := New(7, i, Options{}).Picture(im.Width, im.Height)
		require.NoError(t, err)
		for _, k := range Structures() {
			require.True(t, c.Input.Masks.Mask(k).Equal(pic.Masks.Mask(k)), "%s of phantom %d", k, i)
		}
		require.Equal(t, im.Width, c.Input.NativeWidth)
		require.NotNil(t, c.Input.Facts, "the picture lies beside the case")
		var truth Truth
		require.NoError(t, json.Unmarshal(fsys[FolderTruth+"/"+im.ID+".truth.json"].Data, &truth))
		require.Equal(t, im.ID, truth.ID)
		require.Equal(t, [2]int{im.Width, im.Height}, truth.Size)
		require.NotEmpty(t, truth.Index)
	}
}

// A study does not depend on its neighbours, and the bytes of a small data set are pinned:
// same seed, same bytes, on every machine.
func TestPinnedDataset(t *testing.T) {
	fsys, _, _ := written(t, 9, small)
	var names []string
	for name := range fsys {
		names = append(names, name)
	}
	slices.Sort(names)
	h := sha256.New()
	for _, name := range names {
		h.Write([]byte(name))
		h.Write(fsys[name].Data)
	}
	const want = "4925969169825e2f"
	if got := hex.EncodeToString(h.Sum(nil)[:8]); got != want {
		t.Errorf("data set digest %s, want %s", got, want)
	}
	alone, err := NewStudy(7, small)
	require.NoError(t, err)
	for _, f := range alone.Files {
		require.Equal(t, fsys[f.Name].Data, f.Data, "%s", f.Name)
	}
}

func TestSizing(t *testing.T) {
	w, h := SizingMIMIC.pixels(356.16, 427.84)
	require.Equal(t, [2]int{2544, 3056}, [2]int{w, h})
	w, h = Sizing512.pixels(400, 300)
	require.Equal(t, [2]int{512, 512}, [2]int{w, h})
	z := Sizing{Width: 300, Height: 360}
	p := New(1, 1, Options{Aspect: z.aspect()})
	fw, fh := p.Film()
	require.InDelta(t, 1.2, fh/fw, 1e-9, "a fixed size fixes the film's proportions")
}
