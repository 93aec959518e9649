package dataset

import (
	"encoding/xml"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"
)

// OpenIReport is one report of the Indiana University collection (NLMCXR).
type OpenIReport struct {
	Number     int    // of the file: ecgen-radiology/<n>.xml
	UID        string // "CXR<n>"
	Comparison string
	Indication string
	Findings   string
	Impression string
	// Images are the base names of the report's pictures, without .png.
	Images []string
}

const openIFolder = "ecgen-radiology"

// OpenIReports streams the reports of a folder that holds ecgen-radiology/, by number.
//
// Errors: *RecordError for a file that is no report, or whose id is not that of its name.
func OpenIReports(fsys fs.FS) iter.Seq2[OpenIReport, error] {
	return func(yield func(OpenIReport, error) bool) {
		names, err := fs.Glob(fsys, openIFolder+"/*.xml")
		if err == nil && len(names) == 0 {
			err = &RecordError{File: openIFolder, Detail: "holds no report", Hint: "unpack NLMCXR_reports.tgz and point at the folder that holds " + openIFolder + "/"}
		}
		if err != nil {
			yield(OpenIReport{}, err)
			return
		}
		number := func(name string) int {
			n, err := strconv.Atoi(strings.TrimSuffix(path.Base(name), ".xml"))
			if err != nil {
				return 0
			}
			return n
		}
		slices.SortFunc(names, func(a, b string) int { return number(a) - number(b) })
		for _, name := range names {
			r, err := readOpenI(fsys, name, number(name))
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

func readOpenI(fsys fs.FS, file string, n int) (out OpenIReport, err error) {
	wrong := func(field, detail string, err error) error {
		return &RecordError{File: file, Field: field, Detail: detail, Hint: hintDownload, Err: err}
	}
	if n < 1 {
		return out, wrong("", "is not named by a number", nil)
	}
	data, err := fs.ReadFile(fsys, file)
	if err != nil {
		return out, fmt.Errorf("read %s: %w", file, err)
	}
	var doc struct {
		UID struct {
			ID string `xml:"id,attr"`
		} `xml:"uId"`
		Texts []struct {
			Label string `xml:"Label,attr"`
			Text  string `xml:",chardata"`
		} `xml:"MedlineCitation>Article>Abstract>AbstractText"`
		Images []struct {
			ID string `xml:"id,attr"`
		} `xml:"parentImage"`
	}
	if err := xml.Unmarshal(data, &doc); err != nil {
		return out, wrong("", "is no XML that can be read", err)
	}
	out = OpenIReport{Number: n, UID: doc.UID.ID}
	if want := "CXR" + strconv.Itoa(n); doc.UID.ID != want {
		return out, wrong("uId", "is not "+want+", the file's name", nil)
	}
	for _, t := range doc.Texts {
		text := strings.Join(strings.Fields(t.Text), " ")
		switch strings.ToUpper(strings.TrimSpace(t.Label)) {
		case "COMPARISON":
			out.Comparison = text
		case "INDICATION":
			out.Indication = text
		case "FINDINGS":
			out.Findings = text
		case "IMPRESSION":
			out.Impression = text
		}
	}
	for _, i := range doc.Images {
		if !plainName(i.ID) || OpenIReportOf(i.ID) != out.UID {
			return out, wrong("parentImage", "names a picture that does not begin with "+out.UID+"_", nil)
		}
		out.Images = append(out.Images, i.ID)
	}
	return out, nil
}

// OpenIReportOf returns the report that a picture belongs to, "CXR<n>", by its name, which begins
// with CXR<n>_ or <n>_: two pictures with the same one are siblings. "" for a name of another form.
func OpenIReportOf(image string) string {
	head, rest, ok := strings.Cut(path.Base(image), "_")
	head = strings.TrimPrefix(head, "CXR")
	n, err := strconv.Atoi(head)
	if !ok || rest == "" || err != nil || n < 1 || head != strconv.Itoa(n) {
		return ""
	}
	return "CXR" + head
}
