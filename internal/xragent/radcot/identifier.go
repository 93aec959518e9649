package radcot

import "strings"

// identifierWords speak of identifiers.
var identifierWords = whole([]string{"dicom id", "study id", "subject id", "patient id", "patient number", "accession number", "accession id", "file name", "filename"})

// namesIdentifier reports text that holds the name of a file, patient, study or picture as the
// data sets write them, or the blank of a de-identified report.
func namesIdentifier(text string) bool {
	for i := 0; i < len(text); {
		if !nameByte(text[i]) {
			i++
			continue
		}
		begin, telling := i, false
		for ; i < len(text) && nameByte(text[i]); i++ {
			c := text[i]
			telling = telling || c >= '0' && c <= '9' || c == '_' || c == '.' && i+1 < len(text) && nameByte(text[i+1])
		}
		if telling && identifier(strings.Trim(text[begin:i], ".-")) {
			return true
		}
	}
	return false
}

// nameByte is a byte that names of files are made of.
func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
}

func identifier(name string) bool {
	if strings.Contains(name, "___") {
		return true
	}
	lower := strings.ToLower(name)
	if stem, end, ok := cutLast(lower, "."); ok && stem != "" {
		switch end {
		case "jpg", "jpeg", "png", "dcm", "dicom":
			return true
		}
	}
	if rest, ok := strings.CutPrefix(lower, "cxr"); ok && strings.Contains(rest, "_") && digits(rest[:1]) {
		return true
	}
	if rest, ok := strings.CutPrefix(lower, "xmlab"); ok && rest != "" && digits(rest[:1]) {
		return true
	}
	parts := strings.FieldsFunc(lower, func(r rune) bool { return r == '-' || r == '.' || r == '_' })
	hex := 0
	for _, p := range parts {
		if bare := strings.TrimLeft(p, "ps"); len(bare) == 8 && len(p) <= 9 && digits(bare) {
			return true
		}
		if len(p) == 8 && strings.Trim(p, "0123456789abcdef") == "" {
			hex++
		}
	}
	return hex >= 5
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// cutLast cuts around the last separator.
func cutLast(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
