package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"cxrepro/internal/phantom"
)

// groupSizes are the questions of each of the five sets of labels: the only numbers that give the
// seven published columns.
//
// Source: computed from [paper] App. B.1 and the generator's sets.
var groupSizes = []int{479, 493, 504, 522, 502}

// cabRow is a line of metadata.jsonl.
type cabRow struct {
	QuestionID  string   `json:"question_id"`
	CaseID      string   `json:"case_id"`
	Categories  string   `json:"categories"`
	Question    string   `json:"question"`
	Answer      string   `json:"answer"`
	Explanation string   `json:"explanation"`
	Images      []string `json:"images"`
}

func (f *fixture) chestAgentBench() error {
	n := f.size(ChestAgentBench)
	cases := max(1, n*675/2500)
	var sets []int
	for set, k := range parts(n, groupSizes) {
		for range k {
			sets = append(sets, set)
		}
	}
	f.rng.Shuffle(len(sets), func(i, k int) { sets[i], sets[k] = sets[k], sets[i] })
	var list []cabRow
	for i, set := range sets {
		c := i % cases
		id := fmt.Sprint(1000 + c)
		var images []string
		for k := range 1 + c%3/2 { // every third case has two pictures
			name := fmt.Sprintf("%s/%s/figure_%d.jpg", cabFigures, id, k+1)
			kind, which := kindOf(c + 5*k)
			if err := f.picture(name, kind, which, true); err != nil {
				return err
			}
			images = append(images, name)
		}
		options, key := choices(f.rng, cabOptions)
		stem := stems[set][f.rng.IntN(len(stems[set]))]
		text := fmt.Sprintf("An adult, aged %d, comes with %s. %s", 20+f.rng.IntN(65), complaints[f.rng.IntN(len(complaints))], stem)
		for k, o := range options {
			text += fmt.Sprintf("\n%c) %s", alphabet[k], o)
		}
		list = append(list, cabRow{
			QuestionID: fmt.Sprintf("%s_%d", id, i/cases), CaseID: id, Categories: strings.Join(append([]string{Reasoning}, groups[set]...), ","),
			Question: text, Answer: alphabet[key : key+1], Explanation: "Synthetic: the key was drawn.", Images: images,
		})
	}
	data, err := lines(list)
	if err != nil {
		return err
	}
	return f.w.WriteFile(cabQuestions, data)
}

// chexRow is a question of data.json; the numbers that are no options are written as Python does.
type chexRow struct {
	Image    string `json:"image_path"`
	Question string `json:"question"`
	Option0  string `json:"option_0"`
	Option1  string `json:"option_1"`
	Option2  int    `json:"option_2"`
	Option3  int    `json:"option_3"`
	Answer   int    `json:"answer"`
	Source   string `json:"data_source"`
	Slice    string `json:"slice"`
}

func (f *fixture) cheXbench() error {
	n := f.size(CheXbench)
	sizes := parts(n, []int{380, 115, 123})
	scale := func(k int) int { return max(1, k*n/618) }
	openi, rad, shared, slake := scale(363), scale(94), min(scale(5), scale(94)), scale(60)
	tasks := map[string][]chexRow{"View Classification": {}, chexTasks[0].name: {}, chexTasks[1].name: {}}
	ask := func(task, source, file string, kind phantom.Kind, which int, question string) error {
		name, _, ok := chexPicture(map[string]string{"OpenI": SourceOpenI, "Rad-Restruct": SourceRadReStruct, "SLAKE": SourceSLAKE}[source], file)
		if !ok {
			return fmt.Errorf("bench: fixture: %q is no picture", file)
		}
		options, key := choices(f.rng, 2)
		tasks[task] = append(tasks[task], chexRow{"/home/authors/" + file, question, options[0], options[1], noOption, noOption, key, source, task})
		return f.picture(name, kind, which, strings.HasSuffix(name, ".jpg"))
	}
	film := func(k int) string { return fmt.Sprintf("%s/CXR%d_1_IM-%04d-1001.png", chexOpenI, k+1, k+1) }
	for i := range sizes[0] {
		kind, which := kindOf(i % openi)
		if err := ask(chexTasks[1].name, "OpenI", film(i%openi), kind, which, "Which of the two is true of this picture?"); err != nil {
			return err
		}
	}
	for i := range sizes[1] {
		k := i % rad
		if k >= shared { // the first few are pictures of OpenI, too
			k += openi - shared
		}
		kind, which := kindOf(k)
		if err := ask(chexTasks[0].name, "Rad-Restruct", film(k), kind, which, "Which of the two is seen?"); err != nil {
			return err
		}
	}
	for i := range sizes[2] {
		kind, which := kindOf(i % slake)
		if err := ask(chexTasks[0].name, "SLAKE", fmt.Sprintf("Slake1.0/imgs/xmlab%d/source.jpg", i%slake), kind, which, "Which of the two does the picture show?"); err != nil {
			return err
		}
	}
	data, err := pythonJSON(tasks)
	if err != nil {
		return err
	}
	return f.w.WriteFile(chexQuestions, data)
}

// noOption stands for the number that Python writes where there is no option; no text of a fixture
// holds it.
const noOption = 987654321

// pythonJSON writes tasks with NaN where an option is missing.
func pythonJSON(tasks map[string][]chexRow) ([]byte, error) {
	data, err := json.Marshal(tasks)
	if err != nil {
		return nil, fmt.Errorf("bench: fixture: %w", err)
	}
	return bytes.ReplaceAll(data, fmt.Append(nil, noOption), []byte("NaN")), nil
}

// slakeRow is a question of test.json.
type slakeRow struct {
	Image    int      `json:"img_id"`
	Name     string   `json:"img_name"`
	Question string   `json:"question"`
	Answer   string   `json:"answer"`
	Language string   `json:"q_lang"`
	Location string   `json:"location"`
	Modality string   `json:"modality"`
	Type     string   `json:"answer_type"`
	Base     string   `json:"base_type"`
	Content  string   `json:"content_type"`
	Triple   []string `json:"triple"`
	ID       int      `json:"qid"`
}

func (f *fixture) slake() error {
	n := f.size(SLAKE)
	var list []slakeRow
	add := func(k int, question, answer, language, location, modality, kind string) {
		list = append(list, slakeRow{k, fmt.Sprintf("xmlab%d/source.jpg", k), question, answer, language, location, modality, kind,
			"vqa", "Abnormality", []string{"vhead", "_", "_"}, 10000 + len(list)})
	}
	for i := range n {
		k := i % max(1, n/2)
		kind, which := kindOf(k)
		if err := f.picture(fmt.Sprintf("%s/xmlab%d/source.jpg", slakePictures, k), kind, which, true); err != nil {
			return err
		}
		condition := strings.ToLower(conditions[f.rng.IntN(len(conditions)-1)])
		switch f.rng.IntN(5) {
		case 0:
			add(k, "Which side of the picture shows "+condition+", left or right?", sides[f.rng.IntN(2)], "en", "Lung", "X-Ray", "CLOSED")
		default:
			add(k, "Does the picture show "+condition+"?", []string{"Yes", "No"}[f.rng.IntN(2)], "en", "Lung", "X-Ray", "CLOSED")
		}
		// What the filter leaves out stands between.
		switch i % 4 {
		case 0:
			add(k, "图中显示的是什么?", "肺", "zh", "Lung", "X-Ray", "CLOSED")
		case 1:
			add(k, "What is abnormal in the picture?", condition, "en", "Lung", "X-Ray", "OPEN")
		case 2:
			add(k, "Is the liver enlarged?", "No", "en", "Abdomen", "CT", "CLOSED")
		default:
			add(k, "Is the pelvis broken?", "No", "en", "Pelvic Cavity", "X-Ray", "CLOSED")
		}
	}
	data, err := json.Marshal(list)
	if err != nil {
		return fmt.Errorf("bench: fixture: %w", err)
	}
	return f.w.WriteFile(slakeQuestions, data)
}
