package responder

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/cxreasonbench"
)

// A Case is one case of a benchmark: what is asked about it, and its radiograph.
type Case struct {
	Task  cxreasonbench.Task
	ID    string
	Items []cxreasonbench.Item
	// Radiograph is the digest of the radiograph's bytes.
	Radiograph artifacts.Digest
	// Open reads the radiograph. It is called only when a request shows one in a form whose
	// bytes are not the benchmark's; nil means that such requests are not recognised.
	Open func() ([]byte, error)
}

// Benchmark is what a responder answers for. It is immutable but for a cache, and serves
// several goroutines.
type Benchmark struct {
	cases []*known
	// texts numbers the texts of questions; first holds, for those of diagnostic questions,
	// which show a radiograph, the cases that they are asked about.
	texts  map[string]int
	first  [][]*known
	byTask map[cxreasonbench.Task][]*known
	looks  *looks
}

// known is a case in the form in which it is looked up.
type known struct {
	index int
	task  cxreasonbench.Task
	id    string
	// asked are its questions in the order of asking.
	asked []asked
	image artifacts.Digest
	open  func() ([]byte, error)
}

type asked struct {
	q    cxreasonbench.Question
	rank int
	text int
}

// rank orders the questions of a dialogue by when they can be asked.
func rank(k cxreasonbench.Key) int { return int(k.Path)*1000 + int(k.Stage)*100 + k.Round }

// NewBenchmark indexes the cases. Their order does not matter.
//
// Errors: no cases, a case twice, a case without questions or radiograph.
func NewBenchmark(cases []Case) (*Benchmark, error) {
	if len(cases) == 0 {
		return nil, errors.New("responder: the benchmark has no cases")
	}
	b := &Benchmark{texts: map[string]int{}, byTask: map[cxreasonbench.Task][]*known{}}
	tasks := cxreasonbench.Tasks()
	sorted := slices.Clone(cases)
	slices.SortFunc(sorted, func(x, y Case) int {
		if d := slices.Index(tasks, x.Task) - slices.Index(tasks, y.Task); d != 0 {
			return d
		}
		return strings.Compare(x.ID, y.ID)
	})
	for i, c := range sorted {
		if i > 0 && sorted[i-1].Task == c.Task && sorted[i-1].ID == c.ID {
			return nil, fmt.Errorf("responder: %s: a case stands twice in the benchmark", c.Task)
		}
		k, err := b.index(c)
		if err != nil {
			return nil, err
		}
		k.index = i
		b.cases = append(b.cases, k)
		b.byTask[c.Task] = append(b.byTask[c.Task], k)
	}
	b.looks = newLooks(b.cases)
	return b, nil
}

func (b *Benchmark) index(c Case) (*known, error) {
	if !slices.Contains(cxreasonbench.Tasks(), c.Task) {
		return nil, fmt.Errorf("responder: a case of %s, which is no diagnostic task", c.Task)
	}
	if c.Radiograph == (artifacts.Digest{}) {
		return nil, fmt.Errorf("responder: %s: a case without radiograph", c.Task)
	}
	k := &known{task: c.Task, id: c.ID, image: c.Radiograph, open: c.Open}
	for _, it := range c.Items {
		for _, q := range it.Questions {
			k.asked = append(k.asked, asked{q: q, rank: rank(q.Key), text: b.number(q, k)})
		}
	}
	if len(k.asked) == 0 {
		return nil, fmt.Errorf("responder: %s: a case without questions", c.Task)
	}
	slices.SortStableFunc(k.asked, func(x, y asked) int { return x.rank - y.rank })
	return k, nil
}

// number returns the number of a question's text.
func (b *Benchmark) number(q cxreasonbench.Question, k *known) int {
	text := strings.TrimSpace(q.Text)
	n, ok := b.texts[text]
	if !ok {
		n = len(b.first)
		b.texts[text] = n
		b.first = append(b.first, nil)
	}
	if q.Key.Stage == cxreasonbench.StageInit {
		b.first[n] = append(b.first[n], k)
	}
	return n
}

// Cases is the number of cases.
func (b *Benchmark) Cases() int { return len(b.cases) }

// question returns the question with a key; nil where the case has none.
func (k *known) question(key cxreasonbench.Key) *cxreasonbench.Question {
	for i := range k.asked {
		if k.asked[i].q.Key == key {
			return &k.asked[i].q
		}
	}
	return nil
}

// next returns the first question with a text that can come after one of a rank; nil where
// there is none.
func (k *known) next(text, after int) *asked {
	for i := range k.asked {
		if a := &k.asked[i]; a.text == text && a.rank > after {
			return a
		}
	}
	return nil
}

// rounds is how many questions a stage of a path has.
func (k *known) rounds(p cxreasonbench.Path, s cxreasonbench.Stage) int {
	n := 0
	for i := range k.asked {
		if key := k.asked[i].q.Key; key.Path == p && key.Stage == s {
			n++
		}
	}
	return n
}
