package dataset

import (
	"bufio"
	"fmt"
	"io/fs"
	"strings"

	"cxrepro/artifacts"
)

// maxSumLine bounds a line of a checksum list.
const maxSumLine = 4096

// readSums loads a checksum list as sha256sum writes it: 64 hexadecimal digits, two
// spaces (or a space and a star), and a path from the list's folder.
//
// Only paths below the given prefix are kept. Errors: *TableError for any other line, and
// for a path with two different checksums.
func readSums(fsys fs.FS, file, prefix string) (*keyed[artifacts.Digest], error) {
	f, err := fsys.Open(file)
	if err != nil {
		return nil, fmt.Errorf("open checksums %s: %w", file, err)
	}
	defer f.Close()
	k := &keyed[artifacts.Digest]{}
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, maxSumLine), maxSumLine)
	n := 0
	for lines.Scan() {
		n++
		d, path, err := parseSum(lines.Text())
		if err != nil {
			return nil, &TableError{File: file, Line: n, Detail: "is no checksum line", Hint: "want 64 hexadecimal digits, two spaces and a path", Err: err}
		}
		if strings.HasPrefix(path, prefix) {
			k.add(keyOf(path), d)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, &TableError{File: file, Line: n, Detail: "cannot be read after this line", Hint: hintDownload, Err: err}
	}
	k.freeze()
	for i := 1; i < len(k.items); i++ {
		if a, b := k.items[i-1], k.items[i]; a.key == b.key && a.value != b.value {
			return nil, &TableError{File: file, Detail: "gives one file two checksums", Hint: hintDownload}
		}
	}
	return k, nil
}

func parseSum(line string) (artifacts.Digest, string, error) {
	line = strings.TrimRight(line, "\r")
	const digits = 64
	if len(line) < digits+3 || line[digits] != ' ' || line[digits+1] != ' ' && line[digits+1] != '*' {
		return artifacts.Digest{}, "", fmt.Errorf("%d characters", len(line))
	}
	d, err := artifacts.ParseHex(strings.ToLower(line[:digits]))
	if err != nil {
		return artifacts.Digest{}, "", fmt.Errorf("no digest")
	}
	return d, strings.TrimPrefix(line[digits+2:], "./"), nil
}
