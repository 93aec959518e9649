package trainer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// EventsName is the file that a trainer writes its steps to.
const EventsName = "events.jsonl"

// Event is one line of events.jsonl, which a trainer appends after every step.
type Event struct {
	Run     string `json:"run,omitempty"`
	Attempt int    `json:"attempt"`
	Step    int    `json:"step"`
	// OptimizerStep counts updates of the weights since the base.
	OptimizerStep int      `json:"optimizer_step"`
	Items         []string `json:"item_ids"`
	// Dropped are items of the step that were left out because they are too long.
	Dropped []string `json:"dropped,omitempty"`
	Samples int      `json:"samples"`
	Loss    float64  `json:"loss"`
	// RewardSum is over the step's samples; Weights is a digest of the weights after the step.
	RewardSum float64 `json:"reward_sum,omitempty"`
	Weights   string  `json:"weights_digest,omitempty"`
}

// ReadEvents reads events.jsonl. No file is no events.
//
// A kill may tear a line. The last line without its end is left out, and so is a line that
// is none where the next line begins another attempt.
func ReadEvents(path string) ([]Event, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return decodeEvents(data)
}

func decodeEvents(data []byte) (out []Event, err error) {
	torn, attempt := 0, 0 // torn is the number of a line that is none
	for n := 1; ; n++ {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		if !whole {
			return out, nil
		}
		data = rest
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var e Event
		if json.Unmarshal(line, &e) != nil {
			torn = n
			continue
		}
		if torn > 0 && e.Attempt <= attempt {
			return out, fmt.Errorf("events.jsonl:%d: not a JSON object, although no attempt ended there", torn)
		}
		torn, attempt = 0, e.Attempt
		out = append(out, e)
	}
}
