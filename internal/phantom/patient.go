package phantom

import "cxrepro/internal/cxr"

// What a phantom can have on purpose, as [Truth] spells it.
const (
	findingRotated         = "rotated"
	findingScoliosis       = "scoliosis"
	findingPoorInspiration = "poor inspiration"
	findingRightEffusion   = "right effusion"
	findingLeftEffusion    = "left effusion"
	findingCardiomegaly    = "cardiomegaly"
	findingMediastinum     = "wide mediastinum"
	findingKnob            = "enlarged knob"
	findingWideAorta       = "wide descending aorta"
	findingTortuousAorta   = "tortuous descending aorta"
	findingAscendingAorta  = "wide ascending aorta"
	findingTrachea         = "deviated trachea"
	findingCarina          = "abnormal carina"
	findingScapulae        = "scapulae over lung"
	findingOpacity         = "opacity"
)

// patient holds every number that shapes the anatomy. Lengths are millimetres on the
// film plane for a patient of scale one, angles degrees. y = 0 is the lung apex, x = 0
// the spine, x grows towards the patient's left (the picture's right).
type patient struct {
	view             cxr.ViewPosition
	scaleX, scaleY   float64 // patient size
	chestHalf        float64 // half the inner thoracic width
	domeRight        float64 // height of the right dome
	domeLeft         float64
	sulcusR, sulcusL float64 // depth of the costophrenic angle below its dome
	effusionR        float64 // fluid height in the costophrenic angle
	effusionL        float64
	female           bool
	breast           float64 // relative size
	fat              float64 // soft tissue over the chest wall, mm

	turn  float64 // rotation about the long axis, degrees, positive moves the front to the picture's right
	tilt  float64 // rotation in the film plane, degrees
	curve float64 // scoliosis: bow of the spine, mm
	lean  float64 // second bow term

	ribDrop, ribHalf float64 // relative slope, half thickness in mm

	ctr          float64 // wanted heart width over thoracic width
	heartSplit   float64 // share right of the midline
	heartTop     float64
	heartBottom  float64
	heartRound   float64 // shape of the left border
	mediRight    float64 // half widths of the upper mediastinum at its widest
	mediLeft     float64
	tracheaWidth float64
	tracheaShift float64 // deviation at the aortic arch, mm towards the patient's left
	carinaY      float64
	carinaAngle  float64 // between the inner walls of the main bronchi
	carinaSplit  float64 // share of the right bronchus

	knobEdge     float64 // lateral edge of the aortic knob from the midline
	archY        float64
	descWidth    float64
	descTop      float64 // centre x at the arch
	descBottom   float64 // centre x at the diaphragm
	descBow      float64 // single bow, mm
	descSnake    float64 // double bow, mm
	ascBulge     float64 // right edge of the ascending aorta
	ascWidth     float64
	clavMedialR  float64 // distance of the medial end from the midline
	clavMedialL  float64
	clavY        float64
	clavSkew     float64 // right minus left medial end height
	clavRise     float64
	scapShiftR   float64 // medial shift of the blade
	scapShiftL   float64
	scapDrop     float64
	armsOut      float64
	gas          float64
	boneStrength float64
	opacities    []opacity
	devices      bool
	wobble       [24]float64 // small shape deviations, standard normal
	findings     []string
}

// opacity is a patch of fluid-filled or solid lung.
type opacity struct {
	at     pt
	rx, ry float64
	dense  float64 // 0..1
	nodule bool
}

// patientOf draws the patient of a phantom.
func patientOf(seed uint64, index int) *patient {
	s := newStream(seed, index, "patient")
	p := &patient{view: cxr.ViewPA}
	if s.chance(0.38) {
		p.view = cxr.ViewAP
	}
	ap := p.view == cxr.ViewAP
	p.female = s.chance(0.45)
	size := s.clamped(1.0, 0.045, 0.88, 1.11)
	if p.female {
		size -= 0.03
	}
	p.scaleX = float64(size * s.clamped(1, 0.03, 0.93, 1.07))
	p.scaleY = float64(size * s.clamped(1, 0.03, 0.93, 1.07))
	p.chestHalf = s.clamped(130, 4, 119, 140)
	p.breast = 0
	if p.female {
		p.breast = s.uniform(0.3, 1.2)
	}
	p.fat = s.uniform(10, 34)
	p.habits(s, ap)
	p.thorax(s, ap)
	p.heart(s, ap)
	p.vessels(s)
	p.airway(s)
	p.bones(s, ap)
	for i := range p.wobble {
		p.wobble[i] = s.clamped(0, 1, -2.5, 2.5)
	}
	p.patches(s)
	return p
}

func (p *patient) note(name string) { p.findings = append(p.findings, name) }

// habits draws how the patient stands before the detector.
func (p *patient) habits(s *stream, ap bool) {
	p.turn = s.clamped(0, 1.7, -4, 4)
	if s.chance(0.16) {
		p.turn = float64(s.sign() * s.uniform(4.2, 7.5))
		p.note(findingRotated)
	}
	p.tilt = s.clamped(0, 1.0, -3.5, 3.5)
	if ap {
		p.tilt = float64(p.tilt * 1.5)
	}
	p.curve = s.normal(0, 1.6)
	p.lean = s.normal(0, 0.9)
	if s.chance(0.06) {
		p.curve = float64(s.sign() * s.uniform(8, 18))
		p.note(findingScoliosis)
	}
	p.armsOut = s.uniform(0, 1)
	p.gas = s.uniform(0.2, 1)
	p.devices = ap && s.chance(0.6)
}

// thorax draws lungs, domes and effusions.
func (p *patient) thorax(s *stream, ap bool) {
	poor := 0.2
	if ap {
		poor = 0.42
	}
	p.domeRight = s.clamped(221, 11, 190, 246)
	if s.chance(poor) {
		p.domeRight = s.uniform(138, 182)
		p.note(findingPoorInspiration)
	}
	p.domeLeft = p.domeRight + s.clamped(9, 5, -4, 20)
	p.sulcusR = s.clamped(42, 5, 30, 55)
	p.sulcusL = s.clamped(42, 5, 30, 55) + (p.domeRight - p.domeLeft)
	if s.chance(0.13) {
		p.effusionR = s.uniform(12, 34)
		p.note(findingRightEffusion)
	}
	if s.chance(0.13) {
		p.effusionL = s.uniform(12, 34)
		p.note(findingLeftEffusion)
	}
}

// heart draws the cardiac silhouette.
func (p *patient) heart(s *stream, ap bool) {
	p.ctr = s.clamped(0.445, 0.028, 0.37, 0.485)
	if ap {
		p.ctr = s.clamped(0.485, 0.03, 0.40, 0.535)
	}
	if s.chance(0.34) {
		p.ctr = s.uniform(0.515, 0.65)
		if ap {
			p.ctr = s.uniform(0.565, 0.68)
		}
		p.note(findingCardiomegaly)
	}
	p.heartSplit = s.clamped(0.32, 0.025, 0.25, 0.38)
	p.heartTop = s.clamped(112, 3, 104, 120) - float64(0.3*max(0, 221-p.domeRight))
	p.heartBottom = lerp(p.domeRight, p.domeLeft, 0.75) + s.clamped(13, 2.5, 7, 20)
	p.heartRound = s.uniform(0, 1)
}

// vessels draws the mediastinum and the aorta.
func (p *patient) vessels(s *stream) {
	p.mediRight = s.clamped(23, 1.8, 18, 28)
	p.mediLeft = s.clamped(28, 2, 22, 33)
	if p.view == cxr.ViewAP {
		p.mediRight += 3
		p.mediLeft += 3
	}
	if s.chance(0.3) {
		p.mediRight += s.uniform(6, 20)
		p.mediLeft += s.uniform(4, 18)
		p.note(findingMediastinum)
	}
	p.archY = s.clamped(70, 3, 62, 78)
	p.knobEdge = s.clamped(34, 2.5, 29, 40)
	p.descWidth = s.clamped(27, 2, 22, 32)
	p.descTop = s.clamped(19, 2.5, 12, 26)
	p.descBottom = s.clamped(9, 3, 1, 16)
	p.descBow = s.clamped(0, 1.5, -3, 4)
	p.descSnake = s.clamped(0, 0.6, -1.2, 1.2)
	if s.chance(0.24) {
		p.knobEdge = s.uniform(46, 60)
		p.note(findingKnob)
	}
	if s.chance(0.2) {
		p.descWidth = s.uniform(38, 52)
		p.descTop += s.uniform(0, 6)
		p.note(findingWideAorta)
	}
	if s.chance(0.26) {
		p.descBow = s.uniform(8, 24)
		p.descSnake = float64(s.sign() * s.uniform(4, 12))
		p.note(findingTortuousAorta)
	}
	p.ascWidth = s.clamped(30, 2, 25, 36)
	p.ascBulge = s.clamped(15, 1.8, 10, 18.5)
	if s.chance(0.3) {
		p.ascBulge = s.uniform(29, 38)
		p.ascWidth += s.uniform(4, 10)
		p.note(findingAscendingAorta)
	}
}

// airway draws trachea and main bronchi.
func (p *patient) airway(s *stream) {
	p.tracheaWidth = s.clamped(18.5, 1.6, 14.5, 23)
	if p.descWidth > 36 {
		p.tracheaWidth = s.clamped(16, 1.3, 13.5, 19)
	}
	p.tracheaShift = s.clamped(-2.5, 1.8, -6, 2)
	if s.chance(0.24) {
		p.tracheaShift = float64(s.sign() * s.uniform(13, 24))
		p.note(findingTrachea)
	}
	p.carinaY = s.clamped(90, 3, 83, 98) - float64(0.12*max(0, 221-p.domeRight))
	p.carinaAngle = s.clamped(61, 8, 43, 78)
	if s.chance(0.28) {
		p.carinaAngle = s.uniform(84, 112)
		if s.chance(0.15) {
			p.carinaAngle = s.uniform(30, 37)
		}
		p.note(findingCarina)
	}
	p.carinaSplit = s.clamped(0.44, 0.03, 0.37, 0.5)
}

// bones draws ribs, clavicles and scapulae.
func (p *patient) bones(s *stream, ap bool) {
	p.ribDrop = s.clamped(1, 0.1, 0.75, 1.25)
	p.ribHalf = s.clamped(5.4, 0.4, 4.5, 6.4)
	p.clavMedialR = s.clamped(21, 2, 16, 26)
	p.clavMedialL = p.clavMedialR + s.clamped(0, 1, -2, 2)
	p.clavY = s.clamped(36, 6, 22, 52)
	p.clavRise = s.clamped(30, 6, 15, 44)
	if ap {
		p.clavY = s.clamped(22, 7, 4, 40)
		p.clavRise = s.clamped(18, 8, -2, 34)
	}
	p.clavSkew = s.clamped(0, 2.5, -7, 7)
	p.scapShiftR = s.clamped(-4, 4, -13, 7)
	p.scapShiftL = p.scapShiftR + s.clamped(0, 3, -6, 6)
	if ap {
		p.scapShiftR = s.uniform(24, 46)
		p.scapShiftL = p.scapShiftR + s.clamped(0, 3, -6, 6)
	} else if s.chance(0.08) {
		p.scapShiftR = s.uniform(8, 40)
		p.scapShiftL = s.uniform(8, 40)
		p.note(findingScapulae)
	}
	p.scapDrop = s.clamped(0, 6, -14, 14)
	p.boneStrength = s.uniform(0.75, 1.25)
}

// patches draws opacities inside the lungs.
func (p *patient) patches(s *stream) {
	if !s.chance(0.35) {
		return
	}
	p.note(findingOpacity)
	for range 1 + s.intn(3) {
		side := s.sign()
		o := opacity{
			at:    pt{float64(side * s.uniform(38, 105)), s.uniform(45, p.domeRight-10)},
			rx:    s.uniform(14, 42),
			ry:    s.uniform(14, 42),
			dense: s.uniform(0.25, 0.8),
		}
		if s.chance(0.35) {
			o.rx = s.uniform(5, 13)
			o.ry, o.nodule, o.dense = o.rx, true, s.uniform(0.35, 0.9)
		}
		p.opacities = append(p.opacities, o)
	}
}
