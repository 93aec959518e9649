package picture

import (
	"fmt"
	"strings"
)

// Rule names how pictures are prepared. The zero value is invalid.
type Rule uint8

const (
	// Original sends the stored bytes.
	Original Rule = iota + 1
	// Long1024 reduces the longer side to 1024 pixels and sends PNG.
	Long1024
	// CXRBOriginal is Long1024 with PNG bytes declared as what the source was.
	CXRBOriginal
)

var ruleText = [...]string{Original: "original", Long1024: "long1024", CXRBOriginal: "cxrb_original"}

var ruleVersion = [...]int{Original: 1, Long1024: 1, CXRBOriginal: 1}

// Rules returns every rule.
func Rules() []Rule { return []Rule{Original, Long1024, CXRBOriginal} }

// Parse reads a rule's name, without a version.
func Parse(name string) (Rule, error) {
	for _, r := range Rules() {
		if ruleText[r] == name {
			return r, nil
		}
	}
	return 0, fmt.Errorf("no picture rule is called %q; there are %s", name, strings.Join(ruleText[1:], ", "))
}

// Valid reports whether r is one of the rules.
func (r Rule) Valid() bool { return r >= Original && r <= CXRBOriginal }

// String returns the rule's name.
func (r Rule) String() string {
	if !r.Valid() {
		return fmt.Sprintf("invalid picture rule %d", uint8(r))
	}
	return ruleText[r]
}

// Version is name and version, for example "long1024/1": what enters keys.
func (r Rule) Version() string {
	if !r.Valid() {
		return r.String()
	}
	return fmt.Sprintf("%s/%d", ruleText[r], ruleVersion[r])
}
