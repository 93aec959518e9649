package xragent

import (
	"regexp"
	"strings"
)

// subject is what a clause can speak of.
type subject uint8

const (
	subjectHeart subject = iota + 1
	subjectLungs
	subjectMidline // trachea and mediastinum
	subjectOther   // anything whose size or place is not one of the three measurements
)

func of(m Measurement) subject { return subject(m) }

// cue is what a word says about a subject.
type cue uint8

const (
	cueLarge     cue = iota + 1 // larger than it should be, or than the other side
	cueSmall                    // smaller than the other side, below the limit
	cueNormal                   // normal
	cueEqual                    // sides alike
	cueUnequal                  // sides differ
	cueMoved                    // displaced
	cueCentral                  // in the middle
	cueCardiac                  // an enlarged heart in one word
	cueLoss                     // loss of lung volume in one word
	cueDirection                // a place beside the midline
)

func words(list string) []string { return strings.Fields(list) }

func classes[T any](groups map[string]T) map[string]T {
	out := map[string]T{}
	for list, v := range groups {
		for _, w := range words(list) {
			out[w] = v
		}
	}
	return out
}

var subjects = classes(map[string]subject{
	"heart hearts cardiac cardiothoracic ctr ratio":                     subjectHeart,
	"lung lungs hemithorax hemithoraces volume volumes index asymmetry": subjectLungs,
	"trachea tracheal mediastinum mediastinal shift airway":             subjectMidline,
	"hilum hila hilar aorta aortic knob knuckle arch opacity opacities effusion effusions pneumothorax pneumothoraces consolidation consolidations infiltrate infiltrates infiltration nodule nodules mass masses rib ribs diaphragm hemidiaphragm hemidiaphragms lobe lobes vessels vasculature vascular artery arteries atrium ventricle thymus node nodes stomach liver spleen bone bones pleura pleural fissure fissures markings azygos goitre goiter thyroid catheter tube line drain bases apices zone zones scapula clavicle clavicles spine oedema edema congestion atelectasis bronchus bronchi vein veins cava lesion lesions shadowing density densities emphysema contour-other bubble": subjectOther,
})

var cues = classes(map[string]cue{
	"enlarged enlargement enlarges large larger big bigger wide wider widened broad broadened increased increase dilated dilatation dilation oversized exceeds exceeding exceed above elevated hyperinflated overinflated hyperexpanded hyperinflation greater abnormal xlarge borderline": cueLarge,
	"smaller small reduced reduction decreased decrease diminished shrunken contracted low lower-volume below under less underinflated hypoinflated xsmall":                                                                                                                                cueSmall,
	"normal unremarkable physiological physiologic xnormal":                                                                                                                              cueNormal,
	"symmetric symmetrical symmetrically symmetry equal equally same similar balanced comparable identical alike":                                                                        cueEqual,
	"asymmetric asymmetrical asymmetrically asymmetry unequal unequally differ differs difference discrepancy disparity":                                                                 cueUnequal,
	"deviated deviation deviates deviate shifted shift shifts displaced displacement displaces pushed pushes push pulled pulls pull moved moves drawn draws deflected deflection xmoved": cueMoved,
	"central centrally midline centred centered undisplaced undeviated xcentral":                                                                                                         cueCentral,
	"cardiomegaly megalocardia": cueCardiac,
	"xloss":                     cueLoss,
	"xdirleft xdirright leftward leftwards rightward rightwards": cueDirection,
})

var verbs = classes(map[string]bool{
	"is are was were has have had lies lie appears appear seems seem remains remain looks look shows show measures occupies suggests suggest exceeds fills sits demonstrates compresses pushes pulls displaces shifts explains indicates being": true,
})

var negators = classes(map[string]bool{
	"no not without never neither nor nothing none absent absence lack lacks lacking xnot free excludes denies unlikely": true,
})

// word is everything that is known of a word.
type word struct {
	subject subject
	cue     cue
	verb    bool
	negator bool
	noun    bool // a cue that is a noun
	loud    bool // keeps a sentence from being plain: a cue or a trigger
}

// lexicon holds every word that the tables name.
var lexicon = func() map[string]word {
	out := map[string]word{}
	for w, s := range subjects {
		e := out[w]
		e.subject = s
		out[w] = e
	}
	for w, c := range cues {
		e := out[w]
		e.cue, e.loud = c, true
		out[w] = e
	}
	mark := func(list map[string]bool, set func(*word)) {
		for w := range list {
			e := out[w]
			set(&e)
			out[w] = e
		}
	}
	mark(verbs, func(e *word) { e.verb = true })
	mark(negators, func(e *word) { e.negator = true })
	mark(nouns, func(e *word) { e.noun = true })
	mark(triggers, func(e *word) { e.loud = true })
	return out
}()

// forms are the lengths of the words of a list by their first two bytes: most words that are
// not in the list are told by it.
type forms [1 << 10]uint32

func formOf(w string) int { return int(w[0]&31)<<5 | int(w[1]&31) }

// may reports that the list can hold w.
func (f *forms) may(w string) bool {
	return len(w) < 2 || len(w) > 31 || f[formOf(w)]&(1<<len(w)) != 0
}

var lexiconForms = func() *forms {
	f := &forms{}
	for w := range lexicon {
		if len(w) >= 2 && len(w) <= 31 {
			f[formOf(w)] |= 1 << len(w)
		}
	}
	return f
}()

// fold is a rewriting of the text before words are read.
type fold struct {
	re *regexp.Regexp
	to string
	// needs are groups of literals: without at least one of every group in the text the
	// pattern cannot match. TestFoldNeeds holds that.
	needs []found
}

// may reports that the pattern can match a text with these literals.
func (f *fold) may(has found) bool {
	for i := range f.needs {
		if !f.needs[i].meets(has) {
			return false
		}
	}
	return true
}

// rewriter is a list of rewritings that are applied in order.
type rewriter struct {
	folds    []fold
	literals *literals // of all needs
}

func folds(triples ...string) *rewriter {
	r, number := &rewriter{}, map[string]int{}
	var list []string
	for i := 0; i < len(triples); i += 3 {
		f := fold{re: regexp.MustCompile(triples[i]), to: triples[i+1]}
		for _, group := range strings.Split(triples[i+2], "&") {
			var need found
			for _, l := range strings.Split(group, "|") {
				if _, known := number[l]; !known {
					number[l] = len(list)
					list = append(list, l)
				}
				need.add(number[l])
			}
			f.needs = append(f.needs, need)
		}
		r.folds = append(r.folds, f)
	}
	r.literals = newLiterals(list)
	return r
}

// apply rewrites text; most patterns are passed over for want of the literals they need.
func (r *rewriter) apply(text string) string {
	has := r.literals.in(text)
	for i := range r.folds {
		f := &r.folds[i]
		if !f.may(has) {
			continue
		}
		if after := f.re.ReplaceAllString(text, f.to); after != text {
			text, has = after, r.literals.in(after)
		}
	}
	return text
}

const pictureWord = `(?:image|picture|film|screen|viewer|radiograph|page)`

// rewrites turns phrases into single words, drops the side of the picture, and drops what
// only looks like a negation. Order matters.
var rewrites = folds(
	`[\x{2019}\x{2018}]`, `'`, "\u2019|\u2018",
	`[\x{2212}\x{2013}\x{2014}]`, `-`, "\u2212|\u2013|\u2014",
	`cannot`, `can not`, `cannot`,
	`can't`, `can not`, `can't`,
	`n't\b`, ` not`, `n't`,
	`\([^()]*\b`+pictureWord+`\b[^()]*\)`, ` `, `(&image|picture|film|screen|viewer|radiograph|page`,
	`,?\s*\b(which|that) (is|lies|means) (on |at )?(the )?(left|right)( hand)?( side| half)? of the `+pictureWord+`\b`, ` `, `of the image|of the picture|of the film|of the screen|of the viewer|of the radiograph|of the page`,
	`\b(on |at |in )?the (left|right)( hand)?( side| half)? of the `+pictureWord+`\b`, ` `, `of the image|of the picture|of the film|of the screen|of the viewer|of the radiograph|of the page`,
	`\b(image|picture|screen)[- ](left|right)\b`, ` `, `image|picture|screen&left|right`,
	`([a-z])-([a-z])`, `$1 $2`, `-`,
	`([a-z])-([a-z])`, `$1 $2`, `-`,
	`\b(there is |with |have )?(no|without|beyond|little) (any )?doubt( that| about)?\b`, ` `, `doubt`,
	`\b(undoubtedly|doubtless|not only|no less|nonetheless|not surprisingly)\b`, ` `, `undoubtedly|doubtless|not only|no less|nonetheless|not surprisingly`,
	`,?\s*\b(and |but )?not ((on|of|in|to|at|towards?) )?(the )?(patient's )?(left|right)( one| lung| side)?\s*([,.;)]| that |$)`, `$7 `, `not &left|right`,
	`\b(due|owing|secondary|thanks) to\b`, `because`, `due to|owing to|secondary to|thanks to`,
	`\b(compared|relative|in contrast|in comparison)( with| to)\b`, `compared with`, `compar|relative|contrast`,
	`\b(similar|equal|identical|comparable) to\b`, `$1 with`, `similar to|equal to|identical to|comparable to`,
	`\bno longer\b`, `xnot`, `no longer`,
	`\b(anything|everything|all) but\b`, `xnot`, `thing but|all but`,
	`\bfar from( being)?\b`, `xnot`, `far from`,
	`\bfree (of|from)\b`, `xnot`, `free `,
	`\bfails? to (show|demonstrate|reveal)\b`, `xnot`, `fail`,
	`\b(top|upper|high|low|borderline) normal\b`, `xnormal`, `top normal|upper normal|high normal|low normal|borderline normal`,
	`\b(at |reaches |near )?(the )?upper (limits?|end|border|bound) of (the )?normal( range)?\b`, `xnormal`, `upper&normal`,
	`\b(above|beyond|exceeds|exceeding|over|outside|larger than|wider than|greater than|bigger than|more than) (the )?(upper )?(limits? of )?(the )?normal( limits?| range| size)?\b`, `xlarge`, `normal&above|beyond|exceed|over|outside|than`,
	`\bwithin (the )?(limits? of normal|normal (limits?|range|bounds))\b`, `xnormal`, `within&normal`,
	`\bwithin (the )?(symmetric|symmetrical) (limits?|range|bounds)\b`, `symmetric`, `within&symmetric`,
	`\bnormal (in|for) (size|width|calib(re|er))\b`, `xnormal`, `normal in|normal for`,
	`\b(less|smaller|narrower) than (one )?(a )?half\b`, `xnormal`, `half`,
	`\bbelow (one )?(a )?half\b`, `xnormal`, `half`,
	`\b(more|greater|wider|larger) than (one )?(a )?half\b`, `xlarge`, `half`,
	`\b(above|over|exceeds|exceeding) (one )?(a )?half\b`, `xlarge`, `half`,
	`\b(volume loss|loss of (lung )?volume|(has |have )?lost (some )?(lung )?volume|(reduced|decreased|diminished|low|smaller) volume|volume (reduction|deficit))\b`, `xloss`, `volume`,
	`\bmidline shift\b`, `mediastinal shift`, `midline shift`,
	`\bmidline structures\b`, `mediastinum`, `midline structures`,
	`\b(away )?from (the |its )?midline( position)?\b`, `xmoved`, `from midline|from the midline|from its midline`,
	`\boff (the )?(midline|cent(re|er))\b`, `xmoved`, `off `,
	`\bin (the )?(middle|midline|cent(re|er))( line)?\b`, `xcentral`, `in middle|in midline|in cent|in the middle|in the midline|in the cent`,
	`\b(to the )?(left|right) of (the )?(midline|middle|cent(re|er))( line)?\b`, `xdir$2`, `left of|right of&mid|cent`,
	`\baway from the (patient's )?left( side| lung| hemithorax)?\b`, `xdirright`, `away from&left`,
	`\baway from the (patient's )?right( side| lung| hemithorax)?\b`, `xdirleft`, `away from&right`,
	`\b(to|towards?) (the )?(patient's |collapsed |affected |opacified |far |upper |lower )?(left|right)( side| hemithorax)?\b`, `xdir$4`, `left|right&to`,
	`\b(to|towards?) (that|the same|this|the ipsilateral|the affected) side\b|\bipsilaterally\b`, `xdirsame`, `that side|same side|this side|ipsilateral|affected side`,
	`\b(to|towards?) the (opposite|other|contralateral|unaffected) side\b|\bcontralaterally\b|\baway from (that|this|the affected) side\b`, `xdirother`, `opposite side|other side|contralateral|unaffected side|away from`,
	`\bpatient's\b`, ` `, `patient's`,
	`\bcut[- ]?off\b`, `cutoff`, `cut`,
	`\bcardiac (apex|device|pacemaker|lead|leads|surgery|failure)\b`, `lead`, `cardiac a|cardiac d|cardiac p|cardiac l|cardiac s|cardiac f`,
	`\bheart failure\b`, `failure`, `heart failure`,
	`\bretrocardiac\b`, `zone`, `retrocardiac`,
	`\basymmetry index\b`, `index`, `asymmetry index`,
)
