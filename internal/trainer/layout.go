package trainer

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"cxrepro/artifacts"
)

// Checkpoint is a folder that looks like a checkpoint.
type Checkpoint struct {
	// Step is the number in its name, Path where it lies, below the checkpoints' folder.
	Step int
	Path string
	// Torn says what is missing, empty for a complete one. Counter is the trainer's own count
	// of steps, read from inside, valid for a complete one.
	Torn    string
	Counter int
	// Names are its files, below Path, sorted; Weights those of them that hold the weights.
	Names   []string
	Weights []string
}

// Layout is how a trainer lays out its checkpoints.
type Layout interface {
	// Name is the word for it in recipes.
	Name() string
	// Checkpoints returns what lies in a folder, complete or torn, by step; a folder that does
	// not exist has none.
	Checkpoints(folder string) ([]Checkpoint, error)
	// Folder is the name of the folder that has a number.
	Folder(number int) string
	// ByCounter reports that folders are numbered by what the trainer counts, not by our steps.
	ByCounter() bool
	// Restored does to the folder of checkpoints what the trainer does when it has saved one there.
	Restored(folder string, number int) error
}

// layouts are the known ones.
var layouts = []Layout{verlLayout{}, hfLayout{}, tinyLayout{}}

// LayoutOf returns a layout by its name.
func LayoutOf(name string) (Layout, error) {
	var known []string
	for _, l := range layouts {
		if l.Name() == name {
			return l, nil
		}
		known = append(known, l.Name())
	}
	return nil, fmt.Errorf("layout %q is not known; hint: one of %s", name, strings.Join(known, ", "))
}

// Newest returns the complete checkpoint of the highest step, and the torn one above it if
// there is one.
func Newest(list []Checkpoint) (complete, torn *Checkpoint) {
	for i := range list {
		c := &list[i]
		switch {
		case c.Torn == "":
			complete, torn = c, nil
		default:
			torn = c
		}
	}
	return complete, torn
}

// scan looks into every folder whose name is prefix and a number, or that but for marks of an
// unfinished one. check fills in what a layout knows.
func scan(folder, prefix string, check func(dir string, c *Checkpoint) error) ([]Checkpoint, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Checkpoint
	for _, e := range entries {
		step, temporary, ok := stepOf(e.Name(), prefix)
		if !ok || !e.IsDir() {
			continue
		}
		c := Checkpoint{Step: step, Path: e.Name()}
		dir := filepath.Join(folder, e.Name())
		if c.Names, err = files(dir); err != nil {
			return nil, err
		}
		if temporary {
			c.Torn = fmt.Sprintf("checkpoint %s has the name of an unfinished one", e.Name())
		} else if err := check(dir, &c); err != nil {
			c.Torn = fmt.Sprintf("checkpoint %s: %v", e.Name(), err)
		}
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b Checkpoint) int { return a.Step - b.Step })
	return out, nil
}

// stepOf reads "checkpoint-12", and "tmp-checkpoint-12", ".checkpoint-12.tmp-77" and the like as
// temporary.
func stepOf(name, prefix string) (step int, temporary, ok bool) {
	before, rest, found := strings.Cut(name, prefix)
	if !found {
		return 0, false, false
	}
	digits := rest
	if i := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		digits = rest[:i]
	}
	step, err := strconv.Atoi(digits)
	return step, before != "" || digits != rest, err == nil
}

// files lists the regular files below dir with slashes, sorted.
func files(dir string) (out []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a trainer tidies up while we look
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		out = append(out, filepath.ToSlash(rel))
		return err
	})
	slices.Sort(out)
	return out, err
}

// state is what trainer_state.json must have.
type state struct {
	Step      *int   `json:"global_step"`
	Optimizer int    `json:"optimizer_step"`
	Run       string `json:"run"`
}

func readState(dir string, step int) (state, error) {
	var s state
	data, err := os.ReadFile(filepath.Join(dir, "trainer_state.json"))
	if err != nil {
		return s, errors.New("trainer_state.json is missing")
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("trainer_state.json does not parse: %v", err)
	}
	if s.Step == nil || *s.Step != step {
		return s, fmt.Errorf("trainer_state.json has no global_step %d", step)
	}
	return s, nil
}

// checkSafetensors refuses a file whose tensors reach beyond its end, which is what a killed
// writer leaves.
func checkSafetensors(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("%s is missing", filepath.Base(path))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var n uint64
	if binary.Read(f, binary.LittleEndian, &n) != nil || n > uint64(info.Size()) || n > 64<<20 {
		return fmt.Errorf("%s is cut off in its header", filepath.Base(path))
	}
	header := make([]byte, n)
	if _, err := io.ReadFull(f, header); err != nil {
		return fmt.Errorf("%s is cut off in its header", filepath.Base(path))
	}
	var tensors map[string]json.RawMessage
	if err := json.Unmarshal(header, &tensors); err != nil {
		return fmt.Errorf("%s has a damaged header: %v", filepath.Base(path), err)
	}
	end := int64(0)
	for name, raw := range tensors {
		if name == "__metadata__" {
			continue
		}
		var t struct {
			Offsets [2]int64 `json:"data_offsets"`
		}
		if err := json.Unmarshal(raw, &t); err != nil {
			return fmt.Errorf("%s has a damaged header: %v", filepath.Base(path), err)
		}
		end = max(end, t.Offsets[1])
	}
	if want := 8 + int64(n) + end; want != info.Size() {
		return fmt.Errorf("%s has %d bytes of %d", filepath.Base(path), info.Size(), want)
	}
	return nil
}

// checkTorch refuses a torch file that is empty or whose archive has no end. Files of the old
// format, which is no archive, are taken as they are.
func checkTorch(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("%s is missing", filepath.Base(path))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	magic := make([]byte, 2)
	if n, _ := f.ReadAt(magic, 0); n < 2 {
		return fmt.Errorf("%s is empty", filepath.Base(path))
	}
	if bytes.Equal(magic, []byte("PK")) {
		if _, err := zip.NewReader(f, info.Size()); err != nil {
			return fmt.Errorf("%s is cut off: %v", filepath.Base(path), err)
		}
	}
	return nil
}

// checkWeights checks one file of weights by its kind.
func checkWeights(path string) error {
	if strings.HasSuffix(path, ".safetensors") {
		return checkSafetensors(path)
	}
	return checkTorch(path)
}

// Hash returns a checkpoint's files by content, and those of the weights among them.
func (c Checkpoint) Hash(folder string) (all, weights []File, err error) {
	for _, name := range c.Names {
		if name == ManifestName {
			continue
		}
		f, err := hashFile(filepath.Join(folder, c.Path, filepath.FromSlash(name)), name)
		if err != nil {
			return nil, nil, fmt.Errorf("checkpoint %s: %w", c.Path, err)
		}
		all = append(all, f)
		if slices.Contains(c.Weights, name) {
			weights = append(weights, f)
		}
	}
	return all, weights, nil
}

func hashFile(path, name string) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return File{Name: name, Digest: artifacts.Digest(h.Sum(nil)), Size: n}, err
}
