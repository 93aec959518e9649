package phantom

import "cxrepro/internal/cxr"

// exposure holds what tube, detector and processing do to a picture.
type exposure struct {
	mu       float64 // attenuation per cm of water
	scatter  float64
	low      float64 // percentile of attenuation shown black
	high     float64 // percentile shown white
	gamma    float64
	sigmoid  float64 // weight of an S-shaped curve
	equal    float64 // weight of histogram equalisation
	local    float64 // local contrast gain
	blur     float64 // point spread, film mm (one standard deviation)
	noise    float64 // grey levels
	grain    bool    // noise correlated between neighbours
	floor    float64 // darkest grey inside the field
	ceiling  float64
	texture  float64 // unevenness of the lung
	marker   int     // 0 none, 1 L, 2 R
	markerAt pt      // share of the film
	shade    pt      // brightness slope over the film
}

// exposureOf draws the exposure of a phantom; wide widens every range, for training.
func exposureOf(seed uint64, index int, view cxr.ViewPosition, wide bool) *exposure {
	s := newStream(seed, index, "exposure")
	e := &exposure{
		mu:      s.clamped(0.172, 0.01, 0.14, 0.2),
		scatter: s.uniform(0.004, 0.018),
		low:     s.uniform(0.01, 0.05),
		high:    s.uniform(0.93, 0.99),
		gamma:   s.clamped(1, 0.13, 0.7, 1.35),
		sigmoid: s.uniform(0, 0.5),
		equal:   s.uniform(0.1, 0.75),
		local:   s.uniform(0.15, 0.75),
		blur:    s.uniform(0.1, 0.35),
		noise:   s.uniform(0.6, 2.6),
		grain:   s.chance(0.5),
		floor:   s.uniform(4, 12),
		ceiling: s.uniform(238, 255),
		texture: s.uniform(0.004, 0.02),
	}
	if view == cxr.ViewAP {
		e.noise = float64(e.noise * 1.4)
		e.scatter = float64(e.scatter * 1.3)
	}
	if s.chance(0.8) {
		e.marker = 1 + s.intn(2)
		e.markerAt = pt{s.uniform(0.86, 0.94), s.uniform(0.03, 0.12)}
		if e.marker == 2 {
			e.markerAt.x = 1 - e.markerAt.x
		}
	}
	e.shade = pt{s.clamped(0, 0.02, -0.05, 0.05), s.clamped(0, 0.02, -0.05, 0.05)}
	if wide {
		e.widen(s)
	}
	return e
}

// widen spreads the exposure so that a network trained on it meets more kinds of film.
func (e *exposure) widen(s *stream) {
	e.gamma = s.clamped(1, 0.3, 0.5, 1.9)
	e.low = s.uniform(0, 0.1)
	e.high = s.uniform(0.88, 1)
	e.equal = s.uniform(0, 0.9)
	e.scatter = s.uniform(0.003, 0.03)
	e.noise = float64(s.uniform(0, 1)*s.uniform(0, 9)) + 0.3
	e.blur = s.uniform(0.05, 0.9)
	e.local = s.uniform(0, 1.2)
	e.floor = s.uniform(0, 40)
	e.ceiling = s.uniform(190, 255)
	e.shade = pt{s.clamped(0, 0.06, -0.15, 0.15), s.clamped(0, 0.06, -0.15, 0.15)}
}
