package claims

import (
	"fmt"
	"strings"

	"cxrepro/internal/cxreasonbench"
)

// Contradiction proves that the figure printed at a place cannot come of the cases that the
// tables say it is over; empty where it can, or where nothing is known of it.
//
// The row of a task is proven by trying every whole number of cases. A mean rests on its tasks:
// where the row of one contradicts the paths before it, the printed mean, which is that of the
// printed tasks, does too.
func Contradiction(at cxreasonbench.Place) string {
	var tasks []string
	why := ""
	for _, t := range at.Tasks() {
		rows, err := PaperRows(at.Model, at.Sampling, t)
		if err != nil {
			return ""
		}
		proof := rows.Contradiction[at.Path]
		// No task of labels enters a mean of consistency.
		if proof == "" || at.Column == cxreasonbench.Consistency && cxreasonbench.KindOf(t) != cxreasonbench.Measurement {
			continue
		}
		tasks, why = append(tasks, strings.ReplaceAll(t.String(), "_", " ")), proof
	}
	if _, group := at.Group(); !group || len(tasks) == 0 {
		return why
	}
	if len(tasks) == 1 {
		return fmt.Sprintf("a mean over %s, where %s", tasks[0], lower(why))
	}
	return fmt.Sprintf("a mean over %d tasks whose rows contradict Path 1: %s", len(tasks), strings.Join(tasks, ", "))
}

func lower(s string) string {
	if strings.HasPrefix(s, "Path") {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
