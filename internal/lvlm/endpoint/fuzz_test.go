package endpoint

import (
	"errors"
	"testing"

	"cxrepro/internal/strictyaml"
)

// FuzzParse: whatever a file holds, it is a set of endpoints that can be named, or a list of
// problems with places.
func FuzzParse(f *testing.F) {
	f.Add(good)
	f.Add("endpoints: [{name: a, adapter: openai, models: {m: x}, limits: {concurrency: 1, timeout: 1s}, url: 'http://[::1]:8000'}]")
	f.Add("endpoints:\n  - &a\n    name: *a\n")
	f.Add("endpoints: {}\n---\nendpoints: []\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse("e.yaml", []byte(text))
		var se *strictyaml.Error
		if err != nil {
			if !errors.As(err, &se) || len(se.Problems) == 0 {
				t.Errorf("%v", err)
			}
			return
		}
		for i := range s.Endpoints {
			c := &s.Endpoints[i]
			if len(c.Served()) == 0 || c.Limits.Timeout <= 0 || c.ID(env()) == "" {
				t.Errorf("%+v", c)
			}
		}
	})
}
