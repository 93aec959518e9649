package tiny

import (
	"bufio"
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sync/errgroup"

	"cxrepro/internal/cxr"
	"cxrepro/internal/trainer/quiztraining"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/quiz"
)

// Set is a split with its pictures and bundles.
type Set struct {
	Studies  []quiz.Study
	Pictures []*cxr.Image
	Bundles  []xragent.Bundle
	crops    sync.Map // by study and box
}

// crop is one that was made.
type crop struct {
	png  []byte
	used [4]int
}

// cut makes a crop of study k once.
func (s *Set) cut(k int, box [4]int) ([]byte, [4]int, error) {
	key := [5]int{k, box[0], box[1], box[2], box[3]}
	if c, ok := s.crops.Load(key); ok {
		return c.(crop).png, c.(crop).used, nil
	}
	png, used, err := quiz.CutOut(s.Pictures[k], box)
	if err == nil {
		s.crops.Store(key, crop{png, used})
	}
	return png, used, err
}

// Draw writes the pictures of a split below dir, and what is known of them beside.
func Draw(dir string, seed uint64, split quiz.Split, n int) error {
	if err := os.MkdirAll(filepath.Join(dir, string(split)), 0o755); err != nil {
		return err
	}
	studies := make([]quiz.Study, n)
	var g errgroup.Group
	g.SetLimit(2)
	for i := range n {
		g.Go(func() (err error) {
			if studies[i], err = quiz.Draw(seed, split, i); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, studies[i].Path), studies[i].PNG, 0o644)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(studies); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, string(split)+".gob"), b.Bytes(), 0o644)
}

// Load reads what Draw wrote, with the lines of `xragent measure --json` about its pictures.
func Load(dir string, split quiz.Split) (*Set, error) {
	data, err := os.ReadFile(filepath.Join(dir, string(split)+".gob"))
	if err != nil {
		return nil, err
	}
	s := &Set{}
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&s.Studies); err != nil {
		return nil, err
	}
	bundles := map[string]xragent.Bundle{}
	f, err := os.Open(filepath.Join(dir, string(split)+".measured.jsonl"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var m struct {
			Image  string         `json:"image"`
			Bundle xragent.Bundle `json:"bundle"`
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return nil, err
		}
		bundles[filepath.Base(m.Image)] = m.Bundle
	}
	for _, st := range s.Studies {
		b, ok := bundles[filepath.Base(st.Path)]
		if !ok {
			return nil, fmt.Errorf("%s is not measured", st.Path)
		}
		m, err := cxr.Decode(st.PNG, cxr.Limits{})
		if err != nil {
			return nil, err
		}
		s.Bundles, s.Pictures = append(s.Bundles, b), append(s.Pictures, m)
	}
	return s, nil
}

// Agent is the protocol of the experiment.
var Agent = xragent.Agent{Profile: xragent.ProfileCalibrated}

// Len is the number of items; they count by picture, then by family.
func (s *Set) Len() int { return 4 * len(s.Studies) }

// Laid lays out item i.
func (s *Set) Laid(i int) quiztraining.Laid {
	k := i / 4
	return quiztraining.Laid{Family: quiz.Families()[i%4], PNG: s.Studies[k].PNG, Table: quiz.Table{
		Agent: Agent, Item: s.Studies[k].Items[i%4], Picture: s.Pictures[k], Bundle: s.Bundles[k],
		Cut: func(box [4]int) ([]byte, [4]int, error) { return s.cut(k, box) },
	}}
}
