package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cxrepro/experiments"
	"cxrepro/internal/casedata"
	"cxrepro/internal/contract"
	"cxrepro/internal/phantom"
)

// TestRunNamesBadPictures spoils pictures and rows of a data set in every way the layout
// allows. Each is one reason that says what is wrong, the others go through real
// inference, and once all is mended the result is that of a data set that never was broken.
func TestRunNamesBadPictures(t *testing.T) {
	b := phantomBench(t, 10)
	b.state = filepath.Join(b.dir, "undisturbed")
	_, want, _ := b.run()
	b.state = filepath.Join(b.dir, "state")
	if want == nil || len(want.Images.Quarantined) > 0 {
		t.Fatalf("sound data set: %+v", want)
	}
	root := filepath.Join(b.dir, "phantoms", phantom.FolderImages)
	if err := os.Remove(filepath.Join(root, "SHA256SUMS.txt")); err != nil { // damage must be found by looking
		t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(root, "*-metadata.csv.gz"))
	if err != nil || len(tables) != 1 {
		t.Fatal(tables, err)
	}
	rows := readTable(t, tables[0])
	sound := map[string][]byte{tables[0]: readFile(t, tables[0])}
	picture := func(i int) string {
		r := rows[frontal(rows)[i]]
		return filepath.Join(root, "files", "p"+r[1][:2], "p"+r[1], "s"+r[2], r[0]+".jpg")
	}
	for i := range 9 {
		sound[picture(i)] = readFile(t, picture(i))
	}
	spoilt := map[int][]byte{
		0: sound[picture(0)][:len(sound[picture(0)])/2],
		1: {},
		2: []byte("a text that calls itself a picture\n"),
		3: bombPNG(60_000, 60_000),
		4: bombJPEG(t, sound[picture(4)]),
	}
	for i, data := range spoilt {
		writeFile(t, picture(i), data)
	}
	if err := os.Remove(picture(5)); err != nil {
		t.Fatal(err)
	}
	front := frontal(rows)
	changed := slices.Clone(rows)
	for at, edit := range map[int]func(r []string){
		6: func(r []string) { r[4] = "PA OBLIQUE" },
		7: func(r []string) { r[5] = "tall" },
	} {
		changed[front[at]] = slices.Clone(rows[front[at]])
		edit(changed[front[at]])
	}
	writeTable(t, tables[0], slices.Delete(changed, front[8], front[8]+1))

	code, r, talk := b.run()
	if code != exitQuarantined {
		t.Fatalf("exit %d, want %d\n%s", code, exitQuarantined, talk)
	}
	for _, line := range []string{
		`truncated: decode jpeg: truncated: ends at byte \d+, before its end mark`,
		`zero_bytes: the file has zero bytes`,
		`not_an_image: .*the content is text, want PNG or JPEG`,
		`too_large: decode png: .*header promises 60000 x 60000 = 3600000000 pixels, limit 36000000`,
		`too_large: decode jpeg: .*header promises 65500 x 65500 = 4290250000 pixels, limit 36000000`,
		`missing_file: the row's file is not in the folder`,
		`bad_row: mimic-cxr-2.0.0-metadata.csv.gz line \d+: Rows is not a number of pixels`,
		`missing_metadata_row: a file below files/ that mimic-cxr-2.0.0-metadata.csv.gz does not mention`,
	} {
		if !regexp.MustCompile(`(?m)^quarantined: case \d+: ` + line + `$`).MatchString(talk) {
			t.Errorf("nothing says %s in\n%s", line, talk)
		}
	}
	if !strings.Contains(talk, "hint: the others are complete; `cxrepro dataset check FOLDER") {
		t.Errorf("no way out in\n%s", talk)
	}
	unknown := 0
	for _, f := range r.Images.Filtered {
		if f.Name == "view_unknown" {
			unknown = f.N
		}
	}
	// a phantom set has one picture without a view position besides
	if unknown != 2 || r.Images.In != want.Images.In || r.Images.Kept != want.Images.Kept-9 {
		t.Errorf("images %+v, sound %+v: want 9 fewer, one of them filtered for its view", r.Images, want.Images)
	}
	for path, data := range sound {
		writeFile(t, path, data)
	}
	code, r, talk = b.run()
	if code != exitOK || r.ResultDigest != want.ResultDigest {
		t.Fatalf("mended: exit %d, result %v, want %s\n%s", code, r, want.ResultDigest, talk)
	}
	if s := stepCount(r, contract.StepSegment); s.Run != 9 || s.Reused != s.Needed-9 {
		t.Errorf("mended: %+v, want the 9 segmented that were missing", s)
	}
}

// TestRunNamesBadMasks imports masks of a wrong size, mirrored ones and unreadable ones.
func TestRunNamesBadMasks(t *testing.T) {
	b := newBench(t, 4)
	file := func(i int) string { return filepath.Join(b.dir, "data", "masks", casedata.ID(i)+".json") }
	var small map[string]any
	if err := json.Unmarshal(readFile(t, file(0)), &small); err != nil {
		t.Fatal(err)
	}
	small["size"] = []int{256, 256}
	small["masks"] = map[string]any{"heart": []int{1000, 50, 256*256 - 1050}}
	data, err := json.Marshal(small)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, file(0), data)
	swapped := regexp.MustCompile(`"(right|left) lung"`).ReplaceAllStringFunc(string(readFile(t, file(1))), func(s string) string {
		return map[string]string{`"right lung"`: `"left lung"`, `"left lung"`: `"right lung"`}[s]
	})
	writeFile(t, file(1), []byte(swapped))
	writeFile(t, file(2), []byte(`{"format":"chexstruct-case-1"`))
	code, r, talk := b.run()
	if code != exitQuarantined {
		t.Fatalf("exit %d\n%s", code, talk)
	}
	for _, line := range []string{
		"quarantined: case 1: masks_wrong_size: masks are 256 x 256, the picture is 512 x 512\n",
		"quarantined: case 3: masks_damaged: case file: not a case file: unexpected EOF\n",
	} {
		if !strings.Contains(talk, line) {
			t.Errorf("no %q in\n%s", line, talk)
		}
	}
	if r.Images.Kept != 2 {
		t.Errorf("images %+v, want 2 kept", r.Images)
	}
	// Masks with the sides swapped stay in the account, and no task gives them a label.
	out, err := b.command("status", r.Reproduction).Output()
	if b.exit(err) != exitQuarantined || !strings.Contains(string(out), "failed rules (1 global.orientation)") ||
		len(regexp.MustCompile(`(?m) 1 +0 +0 +1  orientation 1$`).FindAll(out, -1)) != 12 {
		t.Errorf("mirrored masks: %v\n%s", err, out)
	}
}

// TestRunRefusesModels holds that a model, library or provider that cannot serve ends a run
// before its first image, says what is wrong and the way out, and that the same run with
// the fault mended goes through.
func TestRunRefusesModels(t *testing.T) {
	b := phantomBench(t, 1)
	models := filepath.Join(b.dir, "models")
	if err := os.CopyFS(b.dir, experiments.Files); err != nil {
		t.Fatal(err)
	}
	b.spec = filepath.Join(b.dir, "chexstruct-demo", "spec.yaml")
	weights, card := filepath.Join(models, "phantomseg.onnx"), filepath.Join(models, "phantomseg.yaml")
	soundWeights, soundCard := readFile(t, weights), readFile(t, card)
	old := oldLibrary(t)
	for _, c := range []struct {
		name  string
		spoil func()
		env   string
		args  []string
		want  []string
	}{
		{name: "wrong model digest", spoil: func() { writeFile(t, weights, append(slices.Clone(soundWeights), 0)) },
			want: []string{"error: model file phantomseg.onnx has digest sha256:", ", its card says sha256:", "hint: fetch the right file, or write a card for this one"}},
		{name: "no model file", spoil: func() { _ = os.Remove(weights) },
			want: []string{"phantomseg.onnx: no such file or directory", "hint: put the model file phantomseg.onnx beside the card"}},
		{name: "wrong channel count", spoil: func() {
			text, _, _ := strings.Cut(string(soundCard), "\nmeasured:")
			writeFile(t, card, []byte(strings.Replace(text, "  - trachea\n", "", 1)))
		}, want: []string{"the model puts out 34 channels, its card lists 33", `hint: list one structure per channel, "-" for a channel without one`}},
		{name: "library too old", env: "CXREPRO_ONNXRUNTIME=" + old,
			want: []string{"ONNX Runtime library " + old, "1.20.1", "is too old: version 1.24 or later is needed", "hint: unset CXREPRO_ONNXRUNTIME to have the right one fetched"}},
		{name: "no library there", env: "CXREPRO_ONNXRUNTIME=" + old + ".gone",
			want: []string{"no such file or directory", "hint: run `cxrepro doctor`; if CXREPRO_ONNXRUNTIME is set, unset it"}},
		{name: "CUDA absent", args: []string{"--set", "masks.provider=cuda"},
			want: []string{"provider cuda was asked for but cannot be used", "hint: point CXREPRO_ONNXRUNTIME at a CUDA build", "or ask for provider cpu (its results have other keys)"}},
	} {
		if c.spoil != nil {
			c.spoil()
		}
		b.environment = nil
		if c.env != "" {
			b.environment = []string{c.env}
		}
		code, _, talk := b.run(c.args...)
		if code != exitUsage {
			t.Errorf("%s: exit %d, want %d\n%s", c.name, code, exitUsage, talk)
		}
		for _, want := range append(c.want, "cxrepro: hint: ") {
			if !strings.Contains(talk, want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, talk)
			}
		}
		if strings.Contains(talk, "images") {
			t.Errorf("%s: work was begun\n%s", c.name, talk)
		}
		writeFile(t, weights, soundWeights)
		writeFile(t, card, soundCard)
	}
	b.environment = nil
	if code, _, talk := b.run(); code != exitOK {
		t.Errorf("mended: exit %d\n%s", code, talk)
	}
}

// oldLibrary compiles a library that calls itself an ONNX Runtime of long ago; cgo needs
// the compiler anyway.
func oldLibrary(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	source, lib := filepath.Join(dir, "old.c"), filepath.Join(dir, "libonnxruntime.so")
	writeFile(t, source, []byte(`static const char *v(void){return "1.20.1";} static const void *a(unsigned n){return 0;}
static struct{const void*(*a)(unsigned);const char*(*v)(void);} base={a,v}; void *OrtGetApiBase(void){return &base;}`))
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", lib, source).CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	return lib
}

// stepCount is what a receipt says of one step.
func stepCount(r *contract.Receipt, step string) contract.StepCount {
	for _, s := range r.BySteps {
		if s.Step == step {
			return s
		}
	}
	return contract.StepCount{}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func readTable(t *testing.T, path string) [][]string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(readFile(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(z).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func writeTable(t *testing.T, path string, rows [][]string) {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := csv.NewWriter(z)
	if err := w.WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, out.Bytes())
}

// frontal lists the rows of frontal pictures.
func frontal(rows [][]string) []int {
	var at []int
	for i, r := range rows {
		if r[4] == "PA" || r[4] == "AP" {
			at = append(at, i)
		}
	}
	return at
}

// bombPNG is a small PNG file whose header promises a huge picture.
func bombPNG(w, h uint32) []byte {
	out := bytes.NewBufferString("\x89PNG\r\n\x1a\n")
	chunk := func(kind string, data []byte) {
		_ = binary.Write(out, binary.BigEndian, uint32(len(data)))
		body := append([]byte(kind), data...)
		out.Write(body)
		_ = binary.Write(out, binary.BigEndian, crc32.ChecksumIEEE(body))
	}
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
	chunk("IHDR", append(head, 8, 0, 0, 0, 0))
	chunk("IDAT", []byte{0x78, 0x9c, 0x03, 0x00, 0x00, 0x00, 0x00, 0x01})
	chunk("IEND", nil)
	return out.Bytes()
}

// bombJPEG changes the size in a JPEG's frame header to 65,500 x 65,500.
func bombJPEG(t *testing.T, jpeg []byte) []byte {
	t.Helper()
	out := slices.Clone(jpeg)
	for at := 2; at+9 < len(out); {
		marker, length := out[at+1], int(binary.BigEndian.Uint16(out[at+2:]))
		if marker >= 0xc0 && marker <= 0xc2 {
			binary.BigEndian.PutUint16(out[at+5:], 65_500)
			binary.BigEndian.PutUint16(out[at+7:], 65_500)
			return out
		}
		at += 2 + length
	}
	t.Fatal("no frame header")
	return nil
}
