package artifacts

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// digestPrefix starts the text form of every digest.
const digestPrefix = "sha256:"

// Digest is the SHA-256 of some bytes. It is comparable, and its zero value is invalid.
//
// Text form: "sha256:" and 64 lower-case hexadecimal digits.
type Digest [sha256.Size]byte

// Sum returns the digest of b.
func Sum(b []byte) Digest { return sha256.Sum256(b) }

// ParseDigest reads the text form, strictly: upper-case digits, a missing prefix and
// any other length are refused.
func ParseDigest(s string) (Digest, error) {
	var d Digest
	if len(s) != len(digestPrefix)+2*len(d) || s[:len(digestPrefix)] != digestPrefix {
		return Digest{}, fmt.Errorf("digest %q: want %q and %d lower-case hexadecimal digits", clip(s), digestPrefix, 2*len(d))
	}
	if err := d.parseHex(s[len(digestPrefix):]); err != nil {
		return Digest{}, fmt.Errorf("digest %q: %w", clip(s), err)
	}
	return d, nil
}

// ParseHex reads 64 lower-case hexadecimal digits without the prefix, as object names carry them.
func ParseHex(s string) (Digest, error) {
	var d Digest
	if err := d.parseHex(s); err != nil {
		return Digest{}, fmt.Errorf("digest %q: %w", clip(s), err)
	}
	return d, nil
}

func (d *Digest) parseHex(s string) error {
	if len(s) != 2*len(d) {
		return fmt.Errorf("%d digits, want %d", len(s), 2*len(d))
	}
	for i := range d {
		high, low := hexValue[s[2*i]], hexValue[s[2*i+1]]
		if high|low > 15 {
			at := 2 * i
			if high <= 15 {
				at++
			}
			return fmt.Errorf("character %q at %d is not a lower-case hexadecimal digit", s[at], at)
		}
		d[i] = high<<4 | low
	}
	if d.IsZero() {
		return fmt.Errorf("the zero digest is no digest of anything")
	}
	return nil
}

// hexValue is what a lower-case hexadecimal digit stands for, 255 for any other byte.
var hexValue = func() (values [256]byte) {
	for c := range values {
		values[c] = 255
	}
	for i, c := range []byte("0123456789abcdef") {
		values[c] = byte(i)
	}
	return values
}()

// String returns the text form.
func (d Digest) String() string { return digestPrefix + d.Hex() }

// Hex returns the 64 digits without the prefix.
func (d Digest) Hex() string { return hex.EncodeToString(d[:]) }

// Short returns the first 12 digits, for logs and tables.
func (d Digest) Short() string { return hex.EncodeToString(d[:6]) }

// IsZero reports whether d is the invalid zero value.
func (d Digest) IsZero() bool { return d == Digest{} }

// MarshalText returns the text form; the zero value is the empty text.
func (d Digest) MarshalText() ([]byte, error) {
	if d.IsZero() {
		return []byte{}, nil
	}
	b := make([]byte, 0, len(digestPrefix)+2*len(d))
	b = append(b, digestPrefix...)
	return hex.AppendEncode(b, d[:]), nil
}

// UnmarshalText reads what MarshalText wrote.
func (d *Digest) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*d = Digest{}
		return nil
	}
	p, err := ParseDigest(string(b))
	if err != nil {
		return err
	}
	*d = p
	return nil
}

// Ref names a blob: its digest, its size in bytes and its media type. It stays small,
// so that it may travel where bytes may not.
type Ref struct {
	Digest    Digest `json:"digest"`
	Size      int64  `json:"size"`
	MediaType string `json:"media_type"`
}

// IsZero reports whether r names nothing.
func (r Ref) IsZero() bool { return r.Digest.IsZero() }

// String returns a short form for messages.
func (r Ref) String() string {
	return fmt.Sprintf("%s (%d bytes, %s)", r.Digest.Short(), r.Size, r.MediaType)
}

// clip shortens untrusted text for messages.
func clip(s string) string {
	const most = 80
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}
