package artifacts

import (
	"fmt"
	"strings"
)

// Areas of a store. Every object name starts with one of them.
const (
	areaBlobs      = "blobs/sha256/"
	areaStatements = "statements/sha256/"
	areaIndex      = "index/"
	areaClaims     = "claims/"
	areaConflicts  = "conflicts/"
	areaTombstones = "tombstones/"
	areaPins       = "pins/"
	areaTmp        = "tmp/"
	areaCells      = "cells/"
	areaLeases     = "leases/"
	areaBudgets    = "budgets/"
)

func blobName(d Digest) string      { h := d.Hex(); return areaBlobs + h[:2] + "/" + h }
func statementName(d Digest) string { h := d.Hex(); return areaStatements + h[:2] + "/" + h }
func indexName(k Key) string        { return areaIndex + keyPath(k) }
func claimName(k Key) string        { return areaClaims + keyPath(k) }
func tombstoneName(k Key) string    { return areaTombstones + "index/" + keyPath(k) }

// Names of objects, for those who list or carry them.

// BlobObject is the name of a blob's object.
func BlobObject(d Digest) string { return blobName(d) }

// StatementObject is the name of the object of a statement that lies beside the blobs.
func StatementObject(d Digest) string { return statementName(d) }

// EntryObject is the name of a key's index entry.
func EntryObject(k Key) string { return indexName(k) }

// ObjectOf says what an object is by its name: the digest of a blob or of a statement, or the
// key of an entry. The other results are zero; all are for any other name.
func ObjectOf(name string) (blob, statement Digest, entry Key) {
	var err error
	switch {
	case strings.HasPrefix(name, areaBlobs):
		if blob, err = digestOfPath(name[len(areaBlobs):]); err != nil {
			blob = Digest{}
		}
	case strings.HasPrefix(name, areaStatements):
		if statement, err = digestOfPath(name[len(areaStatements):]); err != nil {
			statement = Digest{}
		}
	case strings.HasPrefix(name, areaIndex):
		if entry, err = keyOfPath(name[len(areaIndex):]); err != nil {
			entry = Key{}
		}
	}
	return blob, statement, entry
}

func conflictName(k Key, second Digest) string {
	return areaConflicts + keyPath(k) + "/" + second.Hex()
}

func keyPath(k Key) string {
	h := k.Digest.Hex()
	return k.Step + "/" + h[:2] + "/" + h
}

// keyOfPath reads what keyPath wrote.
func keyOfPath(path string) (Key, error) {
	parts := strings.Split(path, "/")
	if len(parts) != 3 {
		return Key{}, fmt.Errorf("object name %q: want <step>/<two digits>/<digest>", clip(path))
	}
	if err := CheckStep(parts[0]); err != nil {
		return Key{}, err
	}
	d, err := ParseHex(parts[2])
	if err != nil {
		return Key{}, err
	}
	if parts[1] != parts[2][:2] {
		return Key{}, fmt.Errorf("object name %q: folder %s does not match the digest", clip(path), parts[1])
	}
	return Key{Step: parts[0], Digest: d}, nil
}

// conflictOfPath says why path, which follows the area, is not a conflict's.
func conflictOfPath(path string) error {
	cut := strings.LastIndexByte(path, '/')
	if cut < 0 {
		return fmt.Errorf("object name %q: want <step>/<two digits>/<digest>/<digest>", clip(path))
	}
	if _, err := keyOfPath(path[:cut]); err != nil {
		return err
	}
	_, err := ParseHex(path[cut+1:])
	return err
}

// digestOfPath reads the digest from the part of a blob's or statement's name that
// follows the area.
func digestOfPath(path string) (Digest, error) {
	shard, hex, ok := strings.Cut(path, "/")
	if !ok || len(hex) < 2 || hex[:2] != shard {
		return Digest{}, fmt.Errorf("object name %q: want <two digits>/<digest>", clip(path))
	}
	return ParseHex(hex)
}
