package lvlm

import (
	"strings"
	"unicode/utf8"

	"cxrepro/internal/dialogue"
)

// MaxTokens is the largest count of tokens of one call that is believed.
const MaxTokens = 100_000_000

// Mend makes a reply one that can be recorded, whatever an endpoint sent: text that is not
// UTF-8 gets U+FFFD in place of each invalid sequence, which Answer.Detail then says, and usage
// that cannot be true counts as unreported.
func (r *Reply) Mend() {
	a, s := &r.Answer, &r.Served
	text := !utf8.ValidString(a.Text)
	for _, field := range []*string{
		&a.Text, &a.Finish, &a.Detail,
		&s.Model, &s.Fingerprint, &s.ID, &s.RequestID, &s.Endpoint, &s.Deployment, &s.APIVersion, &s.Region, &s.SDK,
	} {
		*field = Valid(*field)
	}
	if text {
		const note = "the text was not UTF-8; U+FFFD stands for what was not"
		a.Detail = strings.TrimPrefix(a.Detail+"; "+note, "; ")
	}
	if !credible(s.Usage) {
		s.Usage = dialogue.Usage{Unreported: 1}
	}
}

// Valid returns s with U+FFFD in place of each sequence of bytes that is not UTF-8.
func Valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// credible reports whether a call can have used that much.
func credible(u dialogue.Usage) bool {
	for _, n := range []int64{u.Calls, u.Unreported, u.Prompt, u.Cached, u.Completion, u.Thinking} {
		if n < 0 || n > MaxTokens {
			return false
		}
	}
	return u.Cached <= u.Prompt
}
