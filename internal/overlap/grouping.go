package overlap

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
)

// Grouping makes keyed digests of study and patient identifiers, so that records say which
// images belong together without saying to whom. The identifiers of data sets are short: a
// digest without a key would be guessed by trying all.
type Grouping struct{ key []byte }

// GroupingKeySize is the size of a key in bytes.
const GroupingKeySize = 32

// NewGrouping uses a key.
func NewGrouping(key []byte) (*Grouping, error) {
	if len(key) != GroupingKeySize {
		return nil, errors.New("the key of a grouping has 32 bytes")
	}
	return &Grouping{key: append([]byte(nil), key...)}, nil
}

// ID names the key. Groups are compared only under one key.
func (g *Grouping) ID() string { return "hmac-sha256:" + g.sum("key", "", "")[:16] }

// Study is the group of a study of a data set, "" for none.
func (g *Grouping) Study(dataset, study string) string { return g.group("study", dataset, study) }

// Patient is the group of a patient of a data set, "" for none.
func (g *Grouping) Patient(dataset, patient string) string {
	return g.group("patient", dataset, patient)
}

func (g *Grouping) group(kind, dataset, id string) string {
	if id == "" {
		return ""
	}
	return g.sum(kind, dataset, id)[:32]
}

// sum digests texts that hold no zero byte.
func (g *Grouping) sum(parts ...string) string {
	h := hmac.New(sha256.New, g.key)
	for _, p := range parts {
		_, _ = io.WriteString(h, p+"\x00") // a hash takes everything
	}
	return hex.EncodeToString(h.Sum(nil))
}

// String hides the key.
func (g *Grouping) String() string { return "***" }

// GoString hides the key.
func (g *Grouping) GoString() string { return "***" }
