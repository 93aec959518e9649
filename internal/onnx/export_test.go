//go:build cgo

package onnx

// Probe runs the placement probe of a configuration, whatever its provider, and checks
// the answer against asked.
func Probe(cfg Config, asked Provider) (map[string]int, error) {
	if _, err := acquire(cfg.Library); err != nil {
		return nil, err
	}
	defer release()
	s := &Session{cfg: cfg}
	p, err := s.probe()
	if err != nil {
		return nil, err
	}
	return p.nodes, p.check(asked)
}
