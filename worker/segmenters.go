package worker

import (
	"fmt"
	"sync"

	"cxrepro/internal/datause"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/textseg"
	"cxrepro/internal/xragent/tools"
)

// segmenters opens text-prompted segmenters when they are first needed. A client for each class
// of pictures, since what may be sent depends on it.
type segmenters struct {
	opts Options

	mu   sync.Mutex // guards open
	open map[segmenterKey]*textseg.Client
}

type segmenterKey struct {
	model string
	class datause.Class
}

func newSegmenters(o Options) *segmenters {
	return &segmenters{opts: o, open: map[segmenterKey]*textseg.Client{}}
}

// get implements activities.Options.Segmenter.
func (s *segmenters) get(model string, class datause.Class) (tools.Finder, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := segmenterKey{model, class}
	if c := s.open[key]; c != nil {
		return c, nil
	}
	if s.opts.Endpoints == nil {
		return nil, unserved(model)
	}
	card, ok := s.opts.Endpoints.Segmenter(model)
	if !ok {
		return nil, unserved(model)
	}
	c, err := card.Open(class, s.opts.Getenv, s.opts.Store.Get)
	if err != nil {
		return nil, err
	}
	s.open[key] = c
	return c, nil
}

func unserved(model string) error {
	return &lvlm.CallError{Class: lvlm.Configured, Detail: fmt.Sprintf("no text-prompted segmenter %s is known; name one under segmenters in the file of --endpoints", model)}
}
