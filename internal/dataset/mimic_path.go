package dataset

import (
	"fmt"
	"strconv"
	"strings"
)

// filesFolder holds the pictures of the MIMIC-CXR-JPG layout.
const filesFolder = "files"

// ImagePath returns where the layout keeps a picture: files/p10/p10000032/s50414267/<id>.jpg.
//
// Errors: an id that is no file name, or numbers that do not have eight digits. The
// message names the field, never its value.
func ImagePath(subject, study, id string) (string, error) {
	if !eightDigits(subject) {
		return "", fmt.Errorf("subject_id is not a number of 8 digits")
	}
	if !eightDigits(study) {
		return "", fmt.Errorf("study_id is not a number of 8 digits")
	}
	if !plainName(id) {
		return "", fmt.Errorf("dicom_id is not a file name of letters, digits, '-', '_' and '.'")
	}
	return filesFolder + "/p" + subject[:2] + "/p" + subject + "/s" + study + "/" + id + ".jpg", nil
}

func eightDigits(s string) bool {
	if len(s) != 8 {
		return false
	}
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// plainName reports whether s can be one element of a path and nothing else.
func plainName(s string) bool {
	if s == "" || len(s) > 128 || s[0] == '.' {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.':
		default:
			return false
		}
	}
	return true
}

// pixelCount reads Rows or Columns: a whole number, perhaps written as "3056.0". Empty
// means unknown, 0.
func pixelCount(field string) (int, error) {
	field = strings.TrimSpace(field)
	if field == "" {
		return 0, nil
	}
	whole, frac, dotted := strings.Cut(field, ".")
	n, err := strconv.Atoi(whole)
	if err != nil || n < 1 || n > 1<<20 || dotted && strings.Trim(frac, "0") != "" {
		return 0, fmt.Errorf("is not a number of pixels")
	}
	return n, nil
}
