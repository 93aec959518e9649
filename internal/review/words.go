package review

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"cxrepro/internal/chexstruct"
)

// taskWords is what a page says about a task.
type taskWords struct {
	Title    string
	Question string
	// How says what is measured and how the drawing shows it.
	How string
	// Legend explains the colours of the page's drawings, in this order.
	Legend []swatch
}

// swatch is one line of a legend: the class of the colour and what it shows.
type swatch struct{ Class, Words string }

const outlineWords = "outline of a structure as segmented"

var taskText = map[chexstruct.Task]taskWords{
	chexstruct.Inclusion: {"Inclusion", "Are both lungs inside the picture?",
		"Six points, three per lung: apex, side and base. Each red line runs from a point to the border of the picture's content; its length over the content's whole extent is the ratio. White crosses mark where the costophrenic angles are expected; they decide nothing.",
		[]swatch{{"red", "point of the lung and its distance to the content border"}, {"amber", "content border"}, {"blue", "outline of the hemidiaphragms"}, {"green", outlineWords + " (lungs)"}, {"white", "expected costophrenic angle"}}},
	chexstruct.Inspiration: {"Inspiration", "How many posterior ribs lie above the diaphragm?",
		"The dashed line runs two fifths of the right lung's width from its lateral edge. The red rib is the lowest one above the right hemidiaphragm on that line; its number is the answer.",
		[]swatch{{"red", "the rib that answers"}, {"blue", "right hemidiaphragm; the dot is its top on the line"}, {"amber", "mid-clavicular line"}, {"green", outlineWords + " (right lung, numbered posterior ribs)"}}},
	chexstruct.Rotation: {"Rotation", "Do the medial clavicle ends lie evenly beside the spine?",
		"Horizontal distance of each medial clavicle end to the line through the vertebrae near it. The index is the shorter over the longer one.",
		[]swatch{{"red", "shorter distance"}, {"blue", "longer distance"}, {"amber", "line of the spine; crosses are vertebrae"}, {"white", "medial clavicle ends"}, {"green", outlineWords + " (clavicles)"}}},
	chexstruct.Projection: {"Projection", "Was the film taken from behind (PA) or from the front (AP)?",
		"Share of each shoulder blade that lies inside its lung: in PA films the blades are turned out of the lungs.",
		[]swatch{{"red", "part of the shoulder blade inside the lung"}, {"blue", "shoulder blade"}, {"green", outlineWords + " (lungs)"}}},
	chexstruct.Cardiomegaly: {"Cardiomegaly", "Is the heart too wide for the thorax?",
		"Widest extent of the heart over the widest extent of both lungs from the heart's top downwards (cardiothoracic ratio). The bars are drawn level; thin lines lead to the pixels where the extents are reached.",
		[]swatch{{"red", "width of the heart"}, {"blue", "width of the thorax"}, {"violet", "box of the cardiac silhouette from outside"}, {"green", outlineWords + " (lungs, heart)"}}},
	chexstruct.MediastinalWidening: {"Mediastinal widening", "Is the upper mediastinum too wide?",
		"Widest row of the upper mediastinum over the distance between the outer lung edges on the same row (mediastinum-chest ratio).",
		[]swatch{{"red", "width of the mediastinum"}, {"blue", "width of the thorax on the same row"}, {"violet", "box of the upper mediastinum from outside"}, {"green", outlineWords + " (lungs, upper mediastinum)"}}},
	chexstruct.CarinaAngle: {"Carina angle", "At what angle do the main bronchi leave the trachea?",
		"Angle A-B-C with B the carina; A and C are mean points of the notch's two walls on three levels below it. Thin lines only lead the eye on.",
		[]swatch{{"red", "the angle"}, {"white", "points A, B and C"}, {"green", outlineWords + " (tracheal bifurcation)"}}},
	chexstruct.TracheaDeviation: {"Trachea deviation", "Does the trachea leave the line of the spine?",
		"Nine points on the line through the vertebrae, spread evenly over the lower three quarters of the trachea. Where the trachea does not cover the point it lies to the named side of it. The most frequent answer counts.",
		[]swatch{{"red", "point that the trachea leaves, and to which side"}, {"white", "point that the trachea covers"}, {"amber", "line of the spine; crosses are vertebrae"}, {"green", outlineWords + " (trachea)"}}},
	chexstruct.AorticKnobEnlargement: {"Aortic knob", "Is the aortic knob too wide?",
		"From the trachea's left edge to the outermost edge of the arch or the upper descending aorta, over the median width of the trachea.",
		[]swatch{{"red", "width of the knob"}, {"blue", "median width of the trachea"}, {"green", outlineWords + " (aortic arch, descending aorta, trachea)"}}},
	chexstruct.AscendingAortaEnlargement: {"Ascending aorta", "Does the ascending aorta bulge to the patient's right?",
		"Share of the ascending aorta that lies beyond the line from the heart's right border to the lower end of the trachea.",
		[]swatch{{"red", "part beyond the line"}, {"blue", "ascending aorta"}, {"amber", "line from heart to trachea"}, {"green", outlineWords + " (heart, trachea)"}}},
	chexstruct.DescendingAortaTortuous: {"Tortuous descending aorta", "How strongly does the descending aorta bend?",
		"Mean curvature at six points along the edge that faces the left lung.",
		[]swatch{{"red", "the six points"}, {"amber", "straight line between the ends, for comparison"}, {"green", outlineWords + " (descending aorta, heart)"}}},
	chexstruct.DescendingAortaEnlargement: {"Descending aorta", "Is the descending aorta too wide?",
		"Widest of six rows of the descending aorta over the median width of the trachea.",
		[]swatch{{"red", "width of the aorta"}, {"blue", "median width of the trachea"}, {"green", outlineWords + " (descending aorta, trachea)"}}},
}

// filterText is what a page says about a step of the global filter.
var filterText = map[chexstruct.Rule]taskWords{
	chexstruct.RuleMaskCount: {"Mask count", "Did the segmentation find enough of the chest?",
		"Number of structures that were found, of the 97 that are counted. Pictures that are no chest film, or hardly one, have few.",
		[]swatch{{"green", "every structure that was found and counts"}}},
	chexstruct.RuleHeartPosition: {"Heart position", "Is it a chest film, or does the abdomen fill it?",
		"Space below the heart's lowest row over the space above it, both up to the border of the picture's content on the middle column.",
		[]swatch{{"red", "space below the heart"}, {"blue", "space above its lowest row"}, {"amber", "content border and the heart's lowest row"}, {"green", outlineWords + " (heart)"}}},
	chexstruct.RuleGradient: {"Edge strength", "Is the exposure usable?",
		"Mean strength of edges over all pixels of the original picture. Flat, empty pictures have little; noise and scratches have much. Nothing is drawn: look at the picture itself.", nil},
	chexstruct.RuleOrientation: {"Orientation", "Are right and left where they should be?",
		"The mask of the right lung must lie at the image left. Mirrored pictures or swapped masks fail; their tasks are not evaluable, and the image itself stays.",
		[]swatch{{"red", "middle of each lung's mask"}, {"green", outlineWords + " (lungs)"}}},
}

// figureText writes a value with as many decimals as its size deserves.
func figureText(v float64) string {
	d := 3
	switch a := math.Abs(v); {
	case a >= 100 || v == math.Trunc(v):
		d = 0
	case a >= 10:
		d = 1
	case a >= 1:
		d = 2
	case a < 0.01:
		d = 5
	}
	s := strconv.FormatFloat(v, 'f', d, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		return "0"
	}
	return s
}

// valueText writes any value of a rule or index.
func valueText(v chexstruct.Value) string {
	switch v.Kind() {
	case chexstruct.KindNumber:
		f, _ := v.Float()
		return figureText(f)
	case chexstruct.KindText:
		s, _ := v.Text()
		return s
	case chexstruct.KindList:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = valueText(v.At(i))
		}
		return strings.Join(parts, " / ")
	}
	return ""
}

// limitText says what a row demands, such as "at least 0.1".
func limitText(l chexstruct.Limit) string {
	one := func() string {
		if v, ok := l.Value.(float64); ok {
			return figureText(v)
		}
		return fmt.Sprint(l.Value)
	}
	pair := func() (string, string) {
		if list, ok := l.Value.([]any); ok && len(list) == 2 {
			a, _ := list[0].(float64)
			b, _ := list[1].(float64)
			return figureText(a), figureText(b)
		}
		return one(), ""
	}
	switch l.Compare {
	case ">=":
		return "at least " + one()
	case ">":
		return "more than " + one()
	case "<":
		return "below " + one()
	case "<=":
		return "at most " + one()
	case "in[)":
		a, b := pair()
		return a + " or more and below " + b
	case "in[]":
		a, b := pair()
		return a + " to " + b
	case "not both >=":
		return "not both at least " + one()
	}
	return one()
}

// limits reads rows of the threshold table in words and numbers.
type limits struct{ rules *chexstruct.Rules }

func (l limits) text(row string) string {
	v, ok := l.rules.Limit(row)
	if !ok {
		panic("review: no row " + row) // a test asks for every one
	}
	return limitText(v)
}

// number returns a row's only or lower number, and its upper one where it has two.
func (l limits) number(row string) (lo, hi float64) {
	v, _ := l.rules.Limit(row)
	switch t := v.Value.(type) {
	case float64:
		return t, t
	case []any:
		if len(t) == 2 {
			lo, _ = t[0].(float64)
			hi, _ = t[1].(float64)
		}
	}
	return lo, hi
}

func (l limits) figure(row string) string {
	lo, _ := l.number(row)
	return figureText(lo)
}
