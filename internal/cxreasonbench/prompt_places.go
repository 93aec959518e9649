package cxreasonbench

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"cxrepro/internal/chexstruct"
)

// placesOfTexts are the placeholders of the common texts; those that are not listed have none.
// The generator fills exactly these, so that each must be there and no other may.
var placesOfTexts = map[string][]string{
	"init_lead": {"unknown"}, "view": {"view"},
	"criterion_first": {"need_new"}, "criterion_last": {"none"}, "refined_ask": {"no"},
	"structures_one": {"criterion"}, "structures_all": {"criterion"},
	"structures_partial_one": {"need_new"}, "structures_partial_all": {"need_new"},
	"structures_again_one": {"criterion"}, "structures_again_all": {"criterion"},
	"structures_last": {"none"}, "guide_first": {"structure"}, "guide_next": {"structure"},
	"right_range": {"range"}, "left_range": {"range"}, "ordinal_rib": {"rib"},
}

// placesOfTask are the placeholders of the sentence with a task's threshold.
func placesOfTask(t Task) []string {
	switch t {
	case chexstruct.Cardiomegaly, chexstruct.MediastinalWidening:
		return []string{"ap", "pa"}
	case chexstruct.CarinaAngle:
		return []string{"low", "high"}
	case chexstruct.Inclusion, chexstruct.TracheaDeviation, chexstruct.AscendingAortaEnlargement:
		return nil
	}
	return []string{"limit"}
}

// anyPlace finds what looks like a placeholder, known or not.
var anyPlace = regexp.MustCompile(`\{\s*(?:[\pL_][\pL\pN_.-]*)?\s*\}`)

// checkPlaces reports a placeholder that a text may not hold, and one that it lacks. may are
// those that nothing misses.
func checkPlaces(name, text string, must []string, may ...string) error {
	known := slices.Concat(must, may)
	for i, p := range known {
		known[i] = "{" + p + "}"
		if i < len(must) && !strings.Contains(text, known[i]) {
			return fmt.Errorf("cxreasonbench: prompt pack: %s: the placeholder %s is missing", name, known[i])
		}
	}
	for _, found := range anyPlace.FindAllString(text, -1) {
		if slices.Contains(known, found) {
			continue
		}
		if len(known) == 0 {
			return fmt.Errorf("cxreasonbench: prompt pack: %s: nothing fills the placeholder %s; this text has no placeholders", name, found)
		}
		return fmt.Errorf("cxreasonbench: prompt pack: %s: nothing fills the placeholder %s; this text has only %s", name, found, strings.Join(known, ", "))
	}
	return nil
}

// checkPlaces checks the placeholders of every text of a pack.
func (f *packFile) checkPlaces() error {
	if err := eachText(f.Texts, func(field, text string) error {
		return checkPlaces("texts."+field, text, placesOfTexts[field])
	}); err != nil {
		return err
	}
	for _, s := range slices.Sorted(maps.Keys(f.Structures)) {
		if err := checkPlaces("structures."+s, f.Structures[s], nil); err != nil {
			return err
		}
	}
	for _, t := range Tasks() {
		if err := f.checkTask(t); err != nil {
			return err
		}
	}
	if err := checkPlaces("judge.lead", f.Judge.Lead, nil); err != nil {
		return err
	}
	for _, p := range JudgePrompts() {
		if err := checkPlaces("judge.prompts."+p.String(), f.Judge.Prompts[p.String()], nil); err != nil {
			return err
		}
	}
	return nil
}

func (f *packFile) checkTask(t Task) error {
	return eachText(f.Tasks[t.String()], func(field, text string) error {
		name, must := "tasks."+t.String()+"."+field, placesOfTask(t)
		switch {
		case field == "told" && text == "": // the released sentence counts then
			return nil
		case field == "told_released" && t == chexstruct.Cardiomegaly:
			return checkPlaces(name, text, []string{"ap"}, "pa")
		case field == "told", field == "told_released":
			return checkPlaces(name, text, must)
		}
		return checkPlaces(name, text, nil)
	})
}

// eachText calls check for every text of a section, by its name in the pack, and for every text
// of a list.
func eachText(section any, check func(field, text string) error) error {
	v := reflect.ValueOf(section)
	for i := range v.NumField() {
		field := v.Type().Field(i).Tag.Get("yaml")
		switch x := v.Field(i).Interface().(type) {
		case string:
			if err := check(field, x); err != nil {
				return err
			}
		case []string:
			for n, text := range x {
				if err := check(fmt.Sprintf("%s[%d]", field, n), text); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
