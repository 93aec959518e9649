package worker

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"cxrepro/activities"
	"cxrepro/artifacts"
)

// digestCache remembers digests of files by size and time, in one text file that is only
// appended to. Lines name files by a digest of data set and path, so that the cache holds
// no identifier. Several processes may append at the same time; a torn line is skipped.
type digestCache struct {
	file *os.File
	// roots are where data sets lie, by name: two folders of one name are two spaces.
	roots map[string]string

	mu    sync.Mutex // guards known
	known map[fileKey]remembered
}

var _ activities.DigestCache = (*digestCache)(nil)

// fileKey is half a digest of data set and path: enough to tell files apart.
type fileKey [16]byte

type remembered struct {
	size     int64
	modified int64
	digest   artifacts.Digest
}

// key names a file. What stands before a '|' in dataset is the data set's name.
func (c *digestCache) key(dataset, path string) fileKey {
	name, _, _ := strings.Cut(dataset, "|")
	d := artifacts.Sum([]byte(strings.Join([]string{dataset, c.roots[name], c.roots["masks"], path}, "\x00")))
	return fileKey(d[:16])
}

// openDigests reads the cache at path, or begins one. A cache that cannot be read is begun
// anew: it only saves work.
func openDigests(path string, roots map[string]string, log *slog.Logger) (*digestCache, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	c := &digestCache{roots: roots, known: map[fileKey]remembered{}}
	if err := c.read(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("digest cache begun anew", "err", err)
	}
	var err error
	c.file, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return c, err
}

// ReadDigests returns what workers with this cache folder remember of files below roots, and
// remembers nothing itself.
func ReadDigests(cache string, roots map[string]string) activities.DigestCache {
	c := &digestCache{roots: roots, known: map[fileKey]remembered{}}
	// A cache that is not there or cannot be read only saves work.
	_ = c.read(filepath.Join(cache, digestsFile))
	return readDigests{c}
}

// digestsFile is the cache's name in the cache folder.
const digestsFile = "digests"

type readDigests struct{ *digestCache }

// Store does nothing.
func (readDigests) Store(string, string, int64, time.Time, artifacts.Digest) error { return nil }

func (c *digestCache) read(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if key, r, ok := parseLine(lines.Text()); ok {
			c.known[key] = r
		}
	}
	return lines.Err()
}

func parseLine(line string) (key fileKey, r remembered, ok bool) {
	f := strings.Fields(line)
	if len(f) != 4 {
		return key, r, false
	}
	n, err := hex.Decode(key[:], []byte(f[0][:min(len(f[0]), 2*len(key))]))
	if err != nil || n != len(key) {
		return key, r, false
	}
	var e1, e2, e3 error
	r.size, e1 = strconv.ParseInt(f[1], 10, 64)
	r.modified, e2 = strconv.ParseInt(f[2], 10, 64)
	r.digest, e3 = artifacts.ParseHex(f[3])
	return key, r, errors.Join(e1, e2, e3) == nil
}

// Lookup returns the digest of a file whose size and time are as remembered.
func (c *digestCache) Lookup(dataset, path string, size int64, modified time.Time) (artifacts.Digest, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.known[c.key(dataset, path)]
	if !ok || r.size != size || r.modified != modified.UnixNano() {
		return artifacts.Digest{}, false
	}
	return r.digest, true
}

// Store remembers a digest. A file changed within the last two seconds is not remembered:
// it could change again without its time changing.
func (c *digestCache) Store(dataset, path string, size int64, modified time.Time, d artifacts.Digest) error {
	if time.Since(modified) < 2*time.Second {
		return nil
	}
	key, r := c.key(dataset, path), remembered{size, modified.UnixNano(), d}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known[key] == r {
		return nil
	}
	c.known[key] = r
	_, err := fmt.Fprintf(c.file, "%s %d %d %s\n", hex.EncodeToString(key[:]), r.size, r.modified, d.Hex())
	return err
}

func (c *digestCache) close() error { return c.file.Close() }
