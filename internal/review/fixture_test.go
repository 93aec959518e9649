package review

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/artifacts/memstore"
	"cxrepro/experiments"
	"cxrepro/internal/casedata"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/phantom"
)

// subject is one image with everything that is known of it.
type subject struct {
	entry contract.Entry
	input chexstruct.Input
	img   *cxr.Image
}

// golden returns the first n golden cases.
func golden(t testing.TB, n int) []subject {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(casedata.Dir(t), "open_*.json"))
	if err != nil || len(names) < n {
		t.Fatalf("%d golden cases, want %d (%v)", len(names), n, err)
	}
	var list []subject
	for i, name := range names[:n] {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := chexstruct.ParseCase(name, text)
		if err != nil {
			t.Fatal(err)
		}
		picture, err := os.ReadFile(filepath.Join(filepath.Dir(name), c.Image))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, newSubject(t, i, c, picture))
	}
	return list
}

// phantoms returns the frontal films of the first n synthetic studies with their true masks.
func phantoms(t testing.TB, n int, z phantom.Sizing) []subject {
	t.Helper()
	var list []subject
	for i := range n {
		s, err := phantom.NewStudy(i, phantom.DatasetOptions{Seed: 1, Sizing: z, Cases: true})
		if err != nil {
			t.Fatal(err)
		}
		files := map[string][]byte{}
		for _, f := range s.Files {
			files[f.Name] = f.Data
		}
		for _, img := range s.Images {
			name := phantom.FolderTruth + "/" + img.ID
			text, ok := files[name+".json"]
			if !ok {
				continue
			}
			c, err := chexstruct.ParseCase(name, text)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, newSubject(t, len(list), c, files[phantom.FolderTruth+"/"+c.Image]))
		}
	}
	return list
}

func newSubject(t testing.TB, i int, c *chexstruct.Case, picture []byte) subject {
	t.Helper()
	if err := c.SetPicture(picture); err != nil {
		t.Fatal(err)
	}
	img, err := cxr.Decode(picture, cxr.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	// Some golden cases share a picture and differ in their masks.
	return subject{
		entry: contract.Entry{Image: artifacts.Sum(append([]byte(c.Name), picture...)), Case: i + 1, ID: "id-" + c.Name, Subject: "subject-" + c.Name, Path: "files/" + c.Name,
			View: c.Input.View.String(), Width: img.Width, Height: img.Height, Size: int64(len(picture))},
		input: c.Input, img: img,
	}
}

// bench is a finished reproduction over subjects.
type bench struct {
	in       activities.ReportInput
	subjects map[artifacts.Digest]subject
	// gone makes pictures unreachable.
	gone map[int]bool
}

const windowSize = 5

// newBench assesses the subjects; changes alter the results row by row.
func newBench(t testing.TB, subjects []subject, class string) *bench {
	t.Helper()
	spec, err := experiments.Parse("golden.yaml", []byte(casedata.Spec), "thresholds.global.mask_count.mask_num_min=25")
	if err != nil {
		t.Fatal(err)
	}
	spec.Dataset.DataUse = class
	rules, err := experiments.Rules(spec)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{subjects: map[artifacts.Digest]subject{}, gone: map[int]bool{}}
	slices.SortFunc(subjects, func(x, y subject) int { return bytes.Compare(x.entry.Image[:], y.entry.Image[:]) })
	var windows []activities.ReportWindow
	for i, s := range subjects {
		b.subjects[s.entry.Image] = s
		if i%windowSize == 0 {
			windows = append(windows, activities.ReportWindow{Rows: map[string][]contract.FindingRow{}})
		}
		w := &windows[len(windows)-1]
		w.Entries = append(w.Entries, s.entry)
		r, err := chexstruct.Assess(s.input, rules, nil)
		if err != nil {
			t.Fatal(err)
		}
		add := func(task chexstruct.Task, v any) {
			text, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			w.Rows[task.String()] = append(w.Rows[task.String()], contract.FindingRow{Image: s.entry.Image, Finding: text})
		}
		add(chexstruct.Global, r.Global)
		for _, f := range r.Findings {
			add(f.Task, f)
		}
		add(chexstruct.XRagent, r.XRagent)
	}
	b.in = activities.ReportInput{
		Store: memstore.Open(), Rules: rules, Windows: len(windows), Progress: func() {},
		Plan:   &contract.ReportPlan{Spec: *spec, DataUse: class},
		Window: func(_ context.Context, i int) (activities.ReportWindow, error) { return windows[i], nil },
		Picture: func(_ context.Context, e contract.Entry) (*cxr.Image, error) {
			if b.gone[e.Case] {
				return nil, &activities.PictureError{Why: "the file is gone"}
			}
			return b.subjects[e.Image].img, nil
		},
		Input: func(_ context.Context, e contract.Entry) (chexstruct.Input, error) {
			return b.subjects[e.Image].input, nil
		},
	}
	b.in.Summary = count(t, b.in, spec)
	return b
}

// count makes the summary from the rows, independently of the activities' own counting.
func count(t testing.TB, in activities.ReportInput, spec *experiments.Spec) *contract.Summary {
	t.Helper()
	s := &contract.Summary{Format: contract.SummaryFormat, Name: spec.Name, Paper: spec.Paper, Rules: in.Rules.String()}
	tasks := map[chexstruct.Task]*contract.SummaryTask{}
	labels := map[chexstruct.Task]map[string]int{}
	for _, task := range chexstruct.Tasks() {
		tasks[task] = &contract.SummaryTask{Task: task.String()}
		labels[task] = map[string]int{}
	}
	for i := range in.Windows {
		w, err := in.Window(context.Background(), i)
		if err != nil {
			t.Fatal(err)
		}
		for k := range w.Entries {
			s.Images.In++
			s.Images.Images++
			var g chexstruct.FilterDecision
			if err := json.Unmarshal(w.Rows["global"][k].Finding, &g); err != nil {
				t.Fatal(err)
			}
			for _, r := range g.Failed() {
				s.Global.Failed = contract.AddCount(s.Global.Failed, r.String(), 1)
			}
			s.Global.Orientation = contract.AddCount(s.Global.Orientation, string(g.Orientation), 1)
			if !g.Keep() {
				s.Global.Removed++
				continue
			}
			s.Global.Kept++
			for _, task := range chexstruct.Tasks() {
				f := chexstruct.Finding{Task: task}
				if err := json.Unmarshal(w.Rows[task.String()][k].Finding, &f); err != nil {
					t.Fatal(err)
				}
				st := tasks[task]
				st.Statuses = contract.AddCount(st.Statuses, f.Status.String(), 1)
				if f.Reason != "" {
					st.Reasons = contract.AddCount(st.Reasons, string(f.Reason), 1)
				}
				for _, r := range f.Failed() {
					st.Failed = contract.AddCount(st.Failed, r.String(), 1)
				}
				if f.Status == chexstruct.StatusOK {
					st.Total++
					labels[task][string(f.Label)]++
				}
			}
		}
	}
	for _, task := range chexstruct.Tasks() {
		for _, l := range chexstruct.Labels(task) {
			c := contract.LabelCount{Label: string(l), N: labels[task][string(l)]}
			if n := tasks[task].Total; n > 0 {
				f := float64(c.N) / float64(n)
				c.Fraction = &f
			}
			tasks[task].Labels = append(tasks[task].Labels, c)
		}
		s.Tasks = append(s.Tasks, *tasks[task])
	}
	return s
}

// TestLookSheet writes a sheet of phantoms into the folder that LOOK names, to look at.
func TestLookSheet(t *testing.T) {
	dir := os.Getenv("LOOK")
	if dir == "" {
		t.Skip()
	}
	b := newBench(t, phantoms(t, 24, phantom.SizingNative), "synthetic")
	start, used := time.Now(), processTime(t)
	made, err := Build(t.Context(), b.in, Folder(filepath.Join(dir, "sheet")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v in %v, %v of processor time", made, time.Since(start), processTime(t)-used)
	var out bytes.Buffer
	if err := WriteText(&out, b.in.Summary); err != nil {
		t.Fatal(err)
	}
	t.Log(out.String())
}

func processTime(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
