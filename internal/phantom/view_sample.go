package phantom

import "cxrepro/internal/cxr"

// ViewSample draws training picture (seed, index) of the view check: any view, turned,
// mirrored or inverted now and then, with wide exposure half of the time. It does not
// depend on which other samples are drawn.
func ViewSample(seed uint64, index int) (*cxr.Image, ViewTruth, error) {
	s := newStream(seed, index, "view sample")
	o := Options{Wide: s.chance(0.5)}
	long := 260 + s.intn(200)
	k := viewKind(s.float())
	im, truth, err := drawKind(seed, index, k, long, o, cutTrained)
	if err != nil {
		return nil, truth, err
	}
	if truth.View != 0 {
		if truth.Mirrored = s.chance(0.22) && !truth.Part; truth.Mirrored {
			mirror(im)
		}
		if s.chance(0.45) {
			truth.Turns = 1 + s.intn(3)
			im = turned(im, truth.Turns)
		}
		if truth.Inverted = s.chance(0.22); truth.Inverted {
			invert(im)
		}
	}
	if s.chance(0.4) {
		if im, err = recode(im, 60+s.intn(36)); err != nil {
			return nil, truth, err
		}
	}
	return im, truth, nil
}

// viewKind deals the kinds of training pictures.
func viewKind(share float64) Kind {
	for _, k := range []struct {
		kind  Kind
		share float64
	}{{KindPA, 0.28}, {KindAP, 0.24}, {KindLateral, 0.2}, {KindSlice, 0.11}, {KindTwoPanel, 0.11}} {
		if share -= k.share; share < 0 {
			return k.kind
		}
	}
	return KindCropped
}
