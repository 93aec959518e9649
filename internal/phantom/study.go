package phantom

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/cxr"
	"cxrepro/internal/dataset"
)

// The folders of a written data set.
const (
	FolderImages    = "mimic-cxr-jpg"
	FolderImaGenome = "chest-imagenome"
	FolderCheXmask  = "chexmask"
	FolderTruth     = "truth"
)

// Sizing says how many pixels a picture gets.
type Sizing struct {
	// Pitch is the pixel size in film millimetres; used when Width is zero.
	Pitch float64
	// Width and Height fix the picture's size; the film then has their proportions.
	Width, Height int
}

// The named sizes. SizingNative gives about 1024 x 1231 pixels and more for wide films;
// SizingMIMIC the 2544 x 3056 of the published set.
var (
	SizingNative = Sizing{Pitch: 356.0 / 1024}
	SizingMIMIC  = Sizing{Pitch: 0.14}
	Sizing512    = Sizing{Width: 512, Height: 512}
)

// aspect returns the film proportions that a sizing asks for, 0 for any. A 512 x 512
// picture is a whole film squeezed to a square, as the segmentation network sees it.
func (z Sizing) aspect() float64 {
	if z.Width == 0 || z == Sizing512 {
		return 0
	}
	return float64(z.Height) / float64(z.Width)
}

func (z Sizing) pixels(width, height float64) (w, h int) {
	if z.Width > 0 {
		return z.Width, z.Height
	}
	return int(width/z.Pitch + 0.5), int(height/z.Pitch + 0.5)
}

// DatasetOptions choose what [NewStudy] makes.
type DatasetOptions struct {
	Seed    uint64
	Sizing  Sizing
	Quality int  // JPEG quality; 0 means 95
	Cases   bool // write the true masks as case files, each with its picture beside it
}

// File is one file of a data set, with its path from the data set's folder.
type File struct {
	Name string
	Data []byte
}

// Image is one row of the metadata table.
type Image struct {
	ID, Subject, Study string
	Path               string // from the images' folder
	Digest             artifacts.Digest
	View               string // as the table spells it; may be empty
	Width, Height      int
	Truth              *Truth // nil for a lateral view
}

// Study is one synthetic patient's visit: a frontal film, and now and then a lateral one
// or a second frontal film whose view nobody noted.
type Study struct {
	Index    int
	Images   []Image
	Files    []File
	Labels   map[dataset.Finding]bool
	cheXmask [][]string
}

// every how many studies there is a lateral film, and a film without a view
const (
	lateralEvery = 8
	unnotedEvery = 16
)

// NewStudy draws study (seed, index) with all its files. It does not depend on other
// studies.
func NewStudy(index int, o DatasetOptions) (*Study, error) {
	if o.Quality == 0 {
		o.Quality = 95
	}
	p := New(o.Seed, index, Options{Aspect: o.Sizing.aspect()})
	s := &Study{Index: index, Labels: p.labels()}
	w, h := o.Sizing.pixels(p.Film())
	pic, err := p.Picture(w, h)
	if err != nil {
		return nil, err
	}
	im, err := s.add(p, pic.Image, p.View().String(), 0, o)
	if err != nil {
		return nil, err
	}
	im.Truth = p.Truth(w, h)
	im.Truth.ID = im.ID
	if err := s.annotate(p, pic, im, o); err != nil {
		return nil, fmt.Errorf("phantom %d of seed %d: %w", index, o.Seed, err)
	}
	if index%lateralEvery == lateralEvery-1 {
		side, err := p.Lateral(w, h)
		if err != nil {
			return nil, err
		}
		if _, err := s.add(p, side, "LATERAL", 1, o); err != nil {
			return nil, err
		}
	}
	if index%unnotedEvery == unnotedEvery/2 {
		q := New(o.Seed^0x5eed, index, Options{Aspect: o.Sizing.aspect()})
		w, h := o.Sizing.pixels(q.Film())
		pic, err := q.Picture(w, h)
		if err != nil {
			return nil, err
		}
		if _, err := s.add(q, pic.Image, "", 2, o); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// add encodes one picture of the study.
func (s *Study) add(p *Phantom, pix *cxr.Image, view string, nth int, o DatasetOptions) (*Image, error) {
	data, err := cxr.EncodeJPEG(pix, o.Quality)
	if err != nil {
		return nil, fmt.Errorf("phantom %d of seed %d: %w", p.Index, p.Seed, err)
	}
	im := Image{ID: imageID(o.Seed, s.Index, nth), Subject: number(subjectBase, s.Index), Study: number(studyBase, s.Index),
		Digest: artifacts.Sum(data), View: view, Width: pix.Width, Height: pix.Height}
	if im.Path, err = dataset.ImagePath(im.Subject, im.Study, im.ID); err != nil {
		return nil, fmt.Errorf("phantom %d of seed %d: %w", p.Index, p.Seed, err)
	}
	s.Images = append(s.Images, im)
	s.Files = append(s.Files, File{FolderImages + "/" + im.Path, data})
	return &s.Images[len(s.Images)-1], nil
}

// annotate adds boxes, lung masks and truth of the frontal film.
func (s *Study) annotate(p *Phantom, pic *Picture, im *Image, o DatasetOptions) error {
	boxes := p.boxes(pic)
	scene, err := sceneGraph(im, boxes)
	if err != nil {
		return err
	}
	s.Files = append(s.Files, File{FolderImaGenome + "/silver_dataset/scene_graph/" + im.ID + "_SceneGraph.json", scene})
	lungs := visibleOrgans(pic.Masks)
	s.cheXmask = append(s.cheXmask, lungs.row(im))
	truth, err := artifacts.Canonical(im.Truth)
	if err != nil {
		return err
	}
	s.Files = append(s.Files, File{FolderTruth + "/" + im.ID + ".truth.json", append(truth, '\n')})
	if !o.Cases {
		return nil
	}
	c, err := caseFile(pic.Masks, boxes, lungs, im)
	if err != nil {
		return err
	}
	picture := s.Files[0].Data
	s.Files = append(s.Files, File{FolderTruth + "/" + im.ID + ".json", c}, File{FolderTruth + "/" + im.ID + ".jpg", picture})
	return nil
}

// Numbers from which subjects and studies count. Published ones begin with 1 and 5.
const (
	subjectBase = 99_000_000
	studyBase   = 99_500_000
)

// MaxIndex is the largest study index that a data set can number.
const MaxIndex = 499_999

func number(base, index int) string { return fmt.Sprintf("%08d", base+index) }

// imageID returns an id in the published form. The first group is zero, so that nobody
// takes it for a real one.
func imageID(seed uint64, index, nth int) string {
	h := sha256.Sum256(fmt.Appendf(nil, "phantom %d %d %d", seed, index, nth))
	t := hex.EncodeToString(h[:16])
	return "00000000-" + t[:8] + "-" + t[8:16] + "-" + t[16:24] + "-" + t[24:]
}

// labels are the study's report labels: what was put into the phantom on purpose.
func (p *Phantom) labels() map[dataset.Finding]bool {
	out := map[dataset.Finding]bool{}
	for _, f := range p.patient.findings {
		switch f {
		case findingCardiomegaly:
			out[dataset.Cardiomegaly] = true
		case findingMediastinum, findingKnob, findingWideAorta:
			out[dataset.EnlargedCardiomediastinum] = true
		case findingRightEffusion, findingLeftEffusion:
			out[dataset.PleuralEffusion] = true
		}
	}
	for _, o := range p.patient.opacities {
		if o.nodule {
			out[dataset.LungLesion] = true
		} else {
			out[dataset.LungOpacity] = true
		}
	}
	if len(out) == 0 {
		out[dataset.NoFinding] = true
	}
	if p.patient.devices {
		out[dataset.SupportDevices] = true
	}
	return out
}
