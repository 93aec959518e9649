package xragent

import (
	"regexp"
	"strings"
)

// RelevanceVersion changes whenever the word table does.
const RelevanceVersion = 1

// relevance is the fixed measurement-to-question map, r_k: patterns over question and
// options, case-blind. It never sees the key. [ours]
var relevance = [3]*regexp.Regexp{
	regexp.MustCompile(`\b(heart size|size of the heart|cardiomegaly|cardiac (silhouette|size|shadow|contour|enlargement)|cardiothoracic|ctr|heart failure|cardiac failure|cardiac decompensation|enlarged heart|heart (is |be |appears? )?enlarged|enlargement of the heart|heart shadow|cardiomediastinal silhouette)\b`),
	regexp.MustCompile(`\b(volume loss|loss of (lung )?volume|lost volume|atelecta(sis|ses|tic)|collaps(e|ed|es)|hyperinflat(ion|ed)|(hydro)?pneumothora(x|ces)|hemithora(x|ces)|haemithorax|lung (size|volume)s?|size of the lungs?|smaller lung|((elevated|raised|high) (right |left )?(hemi)?diaphragm)|elevation of the (right |left )?hemidiaphragm|(hemi)?diaphragm(atic)? (is )?(elevat(ed|ion)|raised))\b`),
	regexp.MustCompile(`\b((mediastinal|tracheal|midline|thoracic) (shift(ing|ed)?|deviation)|mediastin(um|al structures) (is |be )?(shifted|displaced|deviated)|shift of the (mediastinum|trachea|heart)|deviat(ion|ed)( of the)? trachea|trachea (is |be )?(deviated|shifted|displaced|central)|tension|displacement|midline)\b`),
}

// relevanceNeeds lists stems of which a text must hold one before the pattern is tried.
var relevanceNeeds = [3][]string{
	{"heart", "card", "ctr"},
	{"volume", "atelect", "collap", "hyperinfl", "thora", "lung", "diaphragm"},
	{"shift", "devia", "displac", "tension", "midline", "trachea"},
}

func asks(i int, text string) bool {
	text = strings.ToLower(text)
	for _, n := range relevanceNeeds[i] {
		if strings.Contains(text, n) {
			return relevance[i].MatchString(text)
		}
	}
	return false
}

// Relevant tells whether m belongs to what the question and its options ask.
func Relevant(m Measurement, q Question) bool {
	if asks(m.index(), q.Text) {
		return true
	}
	for _, o := range q.Options {
		if asks(m.index(), o) {
			return true
		}
	}
	return false
}
