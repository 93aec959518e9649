package wire

import (
	"strings"
	"unicode"

	"cxrepro/internal/lvlm"
)

const (
	// maxDetail is how much of an endpoint's message is kept.
	maxDetail = 240
	// quote is how many bytes in common make a message a quotation of the request.
	quote = 24
)

// Scrub shortens an endpoint's message to one line that may be shown and logged. A credential
// in it is taken out, whole or in part; a message that quotes one of texts is dropped.
func Scrub(message string, secret lvlm.Secret, texts ...string) string {
	message = strings.Join(strings.FieldsFunc(message, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	message = strings.ToValidUTF8(message, "?")
	if s := secret.Reveal(); s != "" {
		message = mask(message, s)
	}
	if len(message) > maxDetail {
		cut := maxDetail
		for cut > 0 && message[cut]&0xC0 == 0x80 {
			cut--
		}
		message = message[:cut] + " ..."
	}
	for _, t := range texts {
		if quotes(message, t) {
			return "(the endpoint's message quotes the request and is not kept)"
		}
	}
	return message
}

// mask replaces the secret, and any eight bytes in a row of it, by asterisks.
func mask(message, secret string) string {
	message = strings.ReplaceAll(message, secret, "***")
	const part = 8
	hide := make([]bool, len(message))
	found := false
	for i := 0; i+part <= len(message); i++ {
		if strings.Contains(secret, message[i:i+part]) {
			for k := range part {
				hide[i+k] = true
			}
			found = true
		}
	}
	if !found {
		return message
	}
	var b strings.Builder
	for i := range len(message) {
		if !hide[i] {
			b.WriteByte(message[i])
		} else if i == 0 || !hide[i-1] {
			b.WriteString("***")
		}
	}
	return b.String()
}

// quotes reports whether message and text have quote bytes in a row in common, or the whole of
// a shorter text. Texts of a few letters say nothing.
func quotes(message, text string) bool {
	text = strings.Join(strings.Fields(text), " ")
	n := min(quote, len(text))
	if n < 12 {
		return false
	}
	for i := 0; i+n <= len(message); i++ {
		if strings.Contains(text, message[i:i+n]) {
			return true
		}
	}
	return false
}
