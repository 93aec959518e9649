package bundle

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"cxrepro/artifacts"
)

// Leaf is one object of a ledger: an index entry, a statement or a blob, under the name that
// it has in a store. It is the same whether or not its bytes are at hand.
type Leaf struct {
	Object string
	Size   int64
	Digest artifacts.Digest
	// Class is the data-use class of the bytes, empty for what may go anywhere.
	Class string
}

// free stands for the empty class in a leaf's text.
const free = "-"

// AppendText appends the leaf's text, one line without its end.
func (l Leaf) AppendText(out []byte) []byte {
	out = append(append(out, l.Object...), ' ')
	out = append(strconv.AppendInt(out, l.Size, 10), ' ')
	text, _ := l.Digest.MarshalText() // it has no error
	out = append(append(out, text...), ' ')
	if l.Class == "" {
		return append(out, free...)
	}
	return append(out, l.Class...)
}

// ParseLeaf reads a leaf's text and refuses any other form of the same.
func ParseLeaf(text string) (Leaf, error) {
	parts := strings.Split(text, " ")
	if len(parts) != 4 || parts[0] == "" || parts[3] == "" {
		return Leaf{}, fmt.Errorf("leaf %.80q: want object, bytes, digest and class", text)
	}
	n, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != parts[1] {
		return Leaf{}, fmt.Errorf("leaf %.80q: %q is no number of bytes", text, parts[1])
	}
	d, err := artifacts.ParseDigest(parts[2])
	if err != nil {
		return Leaf{}, fmt.Errorf("leaf %.80q: %w", text, err)
	}
	l := Leaf{Object: parts[0], Size: n, Digest: d, Class: parts[3]}
	if l.Class == free {
		l.Class = ""
	}
	return l, nil
}

// Ledger is the leaves of a reproduction, sorted by object.
type Ledger struct {
	Leaves []Leaf
	Root   artifacts.Digest
}

// NewLedger sorts nothing: leaves come sorted by object, each once.
//
// Errors: leaves out of order.
func NewLedger(leaves []Leaf) (*Ledger, error) {
	var t Tree
	var buf []byte
	for i, l := range leaves {
		if i > 0 && leaves[i-1].Object >= l.Object {
			return nil, fmt.Errorf("ledger: %s stands after %s", l.Object, leaves[i-1].Object)
		}
		buf = l.AppendText(buf[:0])
		t.Add(LeafHash(buf))
	}
	return &Ledger{Leaves: leaves, Root: t.Root()}, nil
}

// WriteTo writes one line for each leaf.
func (l *Ledger) WriteTo(w io.Writer) (int64, error) {
	out := bufio.NewWriter(w)
	var n int64
	var buf []byte
	for _, leaf := range l.Leaves {
		buf = append(leaf.AppendText(buf[:0]), '\n')
		n += int64(len(buf))
		if _, err := out.Write(buf); err != nil {
			return n, err
		}
	}
	return n, out.Flush()
}

// ReadLedger reads what WriteTo wrote.
func ReadLedger(data []byte) (*Ledger, error) {
	leaves := make([]Leaf, 0, bytes.Count(data, []byte{'\n'}))
	for n := 1; len(data) > 0; n++ {
		line, rest, ok := bytes.Cut(data, []byte{'\n'})
		if !ok {
			return nil, fmt.Errorf("line %d has no end", n)
		}
		leaf, err := ParseLeaf(string(line))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		leaves, data = append(leaves, leaf), rest
	}
	return NewLedger(leaves)
}
