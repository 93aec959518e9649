package phantom

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"cxrepro/artifacts"
	"cxrepro/internal/dataset"
	"cxrepro/internal/datause"
)

// Tables collects what a data set says about all its studies. Add the studies in order
// of their index: the tables keep it. The zero value is ready to use.
type Tables struct {
	images   []Image
	labels   [][]string
	cheXmask [][]string
	sums     map[string]artifacts.Digest
}

// Summary counts what a data set holds.
type Summary struct {
	Format     string `json:"format"`
	Appearance int    `json:"appearance_version"`
	Seed       uint64 `json:"seed"`
	Images     int    `json:"images"`
	Frontal    int    `json:"frontal"`
	Lateral    int    `json:"lateral"`
	NoView     int    `json:"no_view"`
}

// SummaryFile stands in the truth folder.
const SummaryFile = FolderTruth + "/summary.json"

// Add takes a study's rows. The study's files may be dropped afterwards.
func (t *Tables) Add(s *Study) {
	if t.sums == nil {
		t.sums = map[string]artifacts.Digest{}
	}
	for _, im := range s.Images {
		t.images = append(t.images, im)
		t.sums[im.Path] = im.Digest
	}
	row := []string{number(subjectBase, s.Index), number(studyBase, s.Index)}
	for _, f := range dataset.Findings() {
		v := ""
		if s.Labels[f] {
			v = "1.0"
		}
		row = append(row, v)
	}
	t.labels = append(t.labels, row)
	t.cheXmask = append(t.cheXmask, s.cheXmask...)
}

// Files returns all tables, the declarations of each folder, and the checksums.
func (t *Tables) Files(o DatasetOptions) ([]File, Summary, error) {
	sum := Summary{Format: "phantom-dataset-1", Appearance: AppearanceVersion, Seed: o.Seed}
	metadata := [][]string{{"dicom_id", "subject_id", "study_id", "PerformedProcedureStepDescription", "ViewPosition", "Rows", "Columns", "StudyDate", "StudyTime",
		"ProcedureCodeSequence_CodeMeaning", "ViewCodeSequence_CodeMeaning", "PatientOrientationCodeSequence_CodeMeaning"}}
	split := [][]string{{"dicom_id", "study_id", "subject_id", "split"}}
	for i, im := range t.images {
		metadata = append(metadata, im.metadata(i))
		split = append(split, []string{im.ID, im.Study, im.Subject, splitOf(im.Subject)})
		switch im.View {
		case "":
			sum.NoView++
		case "LATERAL":
			sum.Lateral++
		default:
			sum.Frontal++
		}
		sum.Images++
	}
	labels := [][]string{{"subject_id", "study_id"}}
	for _, f := range dataset.Findings() {
		labels[0] = append(labels[0], f.String())
	}
	labels = append(labels, t.labels...)

	out, err := t.imageTables(metadata, split, labels)
	if err != nil {
		return nil, sum, err
	}
	cx, err := plainTable(append([][]string{cheXmaskHeader}, t.cheXmask...))
	if err != nil {
		return nil, sum, fmt.Errorf("chexmask table: %w", err)
	}
	out = append(out, File{FolderCheXmask + "/OriginalResolution/MIMIC-CXR-JPG.csv", cx})
	for _, folder := range []string{FolderImaGenome, FolderCheXmask} {
		d, err := declaration()
		if err != nil {
			return nil, sum, err
		}
		out = append(out, File{folder + "/" + dataset.DeclarationFile, d})
	}
	s, err := json.MarshalIndent(sum, "", " ")
	return append(out, File{SummaryFile, append(s, '\n')}), sum, err
}

// imageTables returns the three tables of the pictures' folder, its declaration and its
// checksums.
func (t *Tables) imageTables(metadata, split, labels [][]string) ([]File, error) {
	d, err := declaration()
	if err != nil {
		return nil, err
	}
	out := []File{{dataset.DeclarationFile, d}}
	for _, k := range []struct {
		name string
		rows [][]string
	}{{dataset.MetadataFile, metadata}, {dataset.SplitFile, split}, {"mimic-cxr-2.0.0-chexpert.csv.gz", labels}} {
		data, err := packedTable(k.rows)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.name, err)
		}
		out = append(out, File{k.name, data})
	}
	type line struct {
		path   string
		digest artifacts.Digest
	}
	var lines []line
	for i, f := range out {
		lines = append(lines, line{f.Name, artifacts.Sum(f.Data)})
		out[i].Name = FolderImages + "/" + f.Name
	}
	for path, d := range t.sums {
		lines = append(lines, line{path, d})
	}
	slices.SortFunc(lines, func(a, b line) int { return cmp.Compare(a.path, b.path) })
	var b bytes.Buffer
	for _, l := range lines {
		fmt.Fprintf(&b, "%s  %s\n", l.digest.Hex(), l.path)
	}
	return append(out, File{FolderImages + "/" + dataset.SumsFile, b.Bytes()}), nil
}

// metadata is the picture's row of the metadata table. Dates lie in a far future, as the
// published, shifted ones do.
func (im *Image) metadata(row int) []string {
	step, code, view, up := "CHEST (PA AND LAT)", "CHEST (PA AND LAT)", "postero-anterior", "Erect"
	switch im.View {
	case "AP":
		step, code, view, up = "CHEST (PORTABLE AP)", "CHEST (PORTABLE AP)", "antero-posterior", ""
	case "LATERAL":
		view = "lateral"
	case "":
		step, view, up = "", "", ""
	}
	return []string{im.ID, im.Subject, im.Study, step, im.View, strconv.Itoa(im.Height), strconv.Itoa(im.Width),
		fmt.Sprintf("3%03d%02d%02d", row/300%1000, row%12+1, row%28+1), fmt.Sprintf("%d.%03d", 80000+row%40000, row%1000), code, view, up}
}

// splitOf puts one subject in ten into test and one into validate.
func splitOf(subject string) string {
	switch subject[len(subject)-1] {
	case '8':
		return dataset.SplitValidate.String()
	case '9':
		return dataset.SplitTest.String()
	}
	return dataset.SplitTrain.String()
}

func declaration() ([]byte, error) {
	return dataset.Declaration{Name: dataset.Phantoms.String(), DataUse: datause.Synthetic, MadeBy: "cxrepro phantom generate"}.Encode()
}

func plainTable(rows [][]string) ([]byte, error) {
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// packedTable returns a gzip CSV table; equal rows give equal bytes.
func packedTable(rows [][]string) ([]byte, error) {
	data, err := plainTable(rows)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
