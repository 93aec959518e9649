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
	text := !utf8.ValidString(r.Answer.Text)
	for _, field := range r.texts() {
		*field = Valid(*field)
	}
	if text {
		r.note("the text was not UTF-8; U+FFFD stands for what was not")
	}
	if !credible(r.Served.Usage) {
		r.Served.Usage = dialogue.Usage{Unreported: 1}
	}
}

// Hide takes a credential out of everything a reply says: an endpoint, or a model that was told
// its own request, may repeat it, and replies are kept. Answer.Detail says so.
func (r *Reply) Hide(s Secret) {
	if s.IsZero() {
		return
	}
	found := false
	for _, field := range r.texts() {
		if strings.Contains(*field, s.Reveal()) {
			*field, found = strings.ReplaceAll(*field, s.Reveal(), hidden), true
		}
	}
	if found {
		r.note("the reply repeated a credential; " + hidden + " stands for it")
	}
}

// texts are the fields that an endpoint fills with words.
func (r *Reply) texts() []*string {
	a, s := &r.Answer, &r.Served
	return []*string{
		&a.Text, &a.Finish, &a.Detail,
		&s.Model, &s.Fingerprint, &s.ID, &s.RequestID, &s.Endpoint, &s.Deployment, &s.APIVersion, &s.Region, &s.SDK,
	}
}

func (r *Reply) note(words string) {
	r.Answer.Detail = strings.TrimPrefix(r.Answer.Detail+"; "+words, "; ")
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
