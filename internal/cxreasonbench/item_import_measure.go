package cxreasonbench

import (
	"fmt"
	"regexp"
	"strings"

	"cxrepro/internal/chexstruct"
)

var (
	rangeForm = regexp.MustCompile(`\[\s*([0-9.eE+-]+?)\s*-\s*([0-9.eE+-]+?)\s*\]`)
	ribForm   = regexp.MustCompile(`\b(\d{1,2})(st|nd|rd|th)?\b`)
	partForm  = regexp.MustCompile(`(?i)\b(included|excluded)\b`)
)

// measureMeans reads an option of a measurement stage.
func measureMeans(task Task, text string) (string, error) {
	lower := strings.ToLower(text)
	switch task {
	case chexstruct.Inclusion:
		words := partForm.FindAllString(lower, -1)
		if len(words) != len(Reading{}.Parts) {
			return "", fmt.Errorf("%d parts are included or excluded, want %d", len(words), len(Reading{}.Parts))
		}
		means := "parts:"
		for _, w := range words {
			if w == "included" {
				means += "1"
			} else {
				means += "0"
			}
		}
		return means, nil
	case chexstruct.Inspiration:
		m := ribForm.FindStringSubmatch(text)
		if m == nil {
			return "", fmt.Errorf("no rib number in it")
		}
		return "rib:" + m[1], nil
	case chexstruct.TracheaDeviation:
		return "direction:" + string(directionOf(lower)), nil
	case chexstruct.AscendingAortaEnlargement:
		if strings.Contains(lower, "not ") || strings.Contains(lower, "n't ") {
			return "not_beyond", nil
		}
		return "beyond", nil
	}
	m := rangeForm.FindStringSubmatch(text)
	if m == nil {
		return "", fmt.Errorf("no range of the form [low - high] in it")
	}
	side := "range:"
	if task == projection {
		switch {
		case strings.HasPrefix(lower, "right"):
			side = "right:"
		case strings.HasPrefix(lower, "left"):
			side = "left:"
		default:
			return "", fmt.Errorf("it names neither side")
		}
	}
	return side + m[1] + ".." + m[2], nil
}

// directionOf reads the sides that a text names, in their order.
func directionOf(lower string) Direction {
	right, left := strings.Index(lower, "right"), strings.Index(lower, "left")
	switch {
	case right < 0 && left < 0:
		return Flat
	case left < 0:
		return ToRight
	case right < 0:
		return ToLeft
	case right < left:
		return RightLeft
	}
	return LeftRight
}

var viewForm = regexp.MustCompile(`\b(PA|AP)\b`)

// ViewTold returns the view position that the first question of a case tells, "PA" or "AP";
// empty where it tells none.
func ViewTold(items []Item) string {
	for _, it := range items {
		if it.Stage != StageInit || !tellsView(it.Task) {
			continue
		}
		text, _, _ := strings.Cut(it.Questions[0].Text, "(a)")
		if m := viewForm.FindAllString(text, -1); len(m) == 1 {
			return m[0]
		}
	}
	return ""
}
