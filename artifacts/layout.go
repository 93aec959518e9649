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
