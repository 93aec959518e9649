package bench

import (
	"fmt"
	"regexp"
	"strings"
)

// marker is where an option may begin: a capital letter with a closing parenthesis after the
// beginning of the text or white space.
var marker = regexp.MustCompile(`(?:^|\s)([A-Z])\)\s*`)

// splitOptions parts a question with its options in one text into stem and options. There must be
// exactly n of them, marked A) to the last letter, each once and in order.
//
// Errors: anything else; nothing is guessed.
func splitOptions(text string, n int) (stem string, options []string, err error) {
	found := marker.FindAllStringSubmatchIndex(text, -1)
	var letters strings.Builder
	for _, m := range found {
		letters.WriteString(text[m[2]:m[3]])
	}
	want := alphabet[:n]
	if letters.String() != want {
		return "", nil, fmt.Errorf("options marked %q, want %s each once and in order", letters.String(), want)
	}
	for i, m := range found {
		end := len(text)
		if i+1 < n {
			end = found[i+1][0]
		}
		option := strings.TrimSpace(text[m[1]:end])
		if option == "" {
			return "", nil, fmt.Errorf("option %s is empty", want[i:i+1])
		}
		options = append(options, option)
	}
	if stem = strings.TrimSpace(text[:found[0][0]]); stem == "" {
		return "", nil, fmt.Errorf("nothing stands before option A")
	}
	return stem, options, nil
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// keyForm is a key that begins with its letter; what follows must not make it part of a word.
var keyForm = regexp.MustCompile(`^([A-Za-z])(?:$|[).:\s-])`)

// keyLetter reads the letter that a key begins with.
func keyLetter(key string) (string, bool) {
	m := keyForm.FindStringSubmatch(strings.TrimSpace(key))
	if m == nil {
		return "", false
	}
	return strings.ToUpper(m[1]), true
}
