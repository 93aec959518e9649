package attest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPreAuthentication: the published example of the DSSE specification (protocol.md, "PAE").
func TestPreAuthentication(t *testing.T) {
	const want = "DSSEv1 29 http://example.com/HelloWorld 11 hello world"
	if got := string(preAuthentication("http://example.com/HelloWorld", []byte("hello world"))); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEnvelope(t *testing.T) {
	folder := Open(filepath.Join(t.TempDir(), "keys"))
	key, err := folder.Init()
	if err != nil {
		t.Fatal(err)
	}
	find := func(id string) (PublicKey, bool) { return key.Public(), id == key.ID() }
	whole := key.Sign(StatementType, []byte(`{"a":1}`))
	text, err := whole.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := DecodeEnvelope(text)
	if err != nil {
		t.Fatal(err)
	}
	if ids, err := back.Verify(find); err != nil || len(ids) != 1 || ids[0] != key.ID() || string(back.Payload) != `{"a":1}` {
		t.Errorf("verified by %v, %v", ids, err)
	}
	// The specification lets readers meet the alphabet of URLs.
	url := strings.NewReplacer("+", "-", "/", "_").Replace(string(text[strings.Index(string(text), `"sig"`):]))
	if e, err := DecodeEnvelope([]byte(string(text[:strings.Index(string(text), `"sig"`)]) + url)); err != nil {
		t.Errorf("the alphabet of URLs: %v", err)
	} else if _, err := e.Verify(find); err != nil {
		t.Errorf("the alphabet of URLs: %v", err)
	}
	for name, change := range map[string]func(*Envelope){
		"payload": func(e *Envelope) { e.Payload = []byte(`{"a":2}`) },
		"type":    func(e *Envelope) { e.PayloadType = "text/plain" },
		"signature": func(e *Envelope) {
			e.Signatures[0].Sig = append(encoded{e.Signatures[0].Sig[0] ^ 1}, e.Signatures[0].Sig[1:]...)
		},
		"cut": func(e *Envelope) { e.Signatures[0].Sig = e.Signatures[0].Sig[:63] },
		"a second, wrong one": func(e *Envelope) {
			e.Signatures = append(e.Signatures, Signature{KeyID: key.ID(), Sig: make(encoded, 64)})
		},
	} {
		e, err := DecodeEnvelope(text)
		if err != nil {
			t.Fatal(err)
		}
		change(&e)
		if _, err := e.Verify(find); !errors.Is(err, ErrWrongSignature) {
			t.Errorf("%s: %v, want a wrong signature", name, err)
		}
	}
	if _, err := back.Verify(func(string) (PublicKey, bool) { return nil, false }); err == nil || errors.Is(err, ErrWrongSignature) {
		t.Errorf("without the key: %v", err)
	}
	for _, bad := range []string{"", "{}", `{"payloadType":"x","payload":"","signatures":[]}`, `{"payloadType":"x","payload":"%","signatures":[{"sig":""}]}`} {
		if _, err := DecodeEnvelope([]byte(bad)); err == nil {
			t.Errorf("%q is taken for an envelope", bad)
		}
	}
}

func TestFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	f := Open(dir)
	if _, err := f.Current(); !errors.Is(err, ErrNoKey) {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := f.Rotate(); !errors.Is(err, ErrNoKey) {
		t.Errorf("rotate in an empty folder: %v", err)
	}
	first, err := f.Init()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Init(); !errors.Is(err, ErrHaveKey) {
		t.Errorf("a second init: %v", err)
	}
	private := filepath.Join(dir, first.ID()+privateSuffix)
	for path, want := range map[string]os.FileMode{dir: 0o700, private: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v (%v), want %o", path, info.Mode(), err, want)
		}
	}
	rotated, err := f.Rotate()
	second := rotated.Now
	if err != nil || rotated.Before != first.ID() || second.ID() == first.ID() || rotated.Kept != "" {
		t.Fatalf("rotate: %+v, %v", rotated, err)
	}
	if _, err := os.Stat(private); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old private key is still there: %v", err)
	}
	public, err := f.Public()
	if err != nil || len(public) != 2 || public[first.ID()] == nil || public[second.ID()] == nil {
		t.Errorf("public keys %v, %v", IDs(public), err)
	}
	if now, err := f.Current(); err != nil || now.ID() != second.ID() {
		t.Errorf("current is %v, %v", now, err)
	}
	if err := os.Chmod(filepath.Join(dir, second.ID()+privateSuffix), 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Current(); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a key that others may read: %v", err)
	}
	third := damagedKey(t, f, dir, second)
	if now, err := f.Current(); err != nil || now.ID() != third.ID() {
		t.Errorf("after a damaged key: %v, %v", now, err)
	}
	if text := fmt.Sprintf("%v %+v %#v %s", second, second, second, second); strings.Contains(text, "PRIVATE") || len(text) != 4*64+3 {
		t.Errorf("a key prints as %q", text)
	}
	if text, err := json.Marshal(map[string]any{"key": second}); err != nil || string(text) != `{"key":{}}` {
		t.Errorf("a key as JSON: %s, %v", text, err)
	}
}

// damagedKey breaks the current key in every way that a file can be broken, and replaces it.
func damagedKey(t *testing.T, f *Folder, dir string, key *Key) *Key {
	t.Helper()
	const half = "-----BEGIN PRIVATE"
	for name, spoil := range map[string]func(path string) error{
		"cut":  func(path string) error { return os.WriteFile(path, []byte(half), 0o600) },
		"gone": os.Remove,
	} {
		path := filepath.Join(dir, key.ID()+privateSuffix)
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := spoil(path); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Current(); err == nil || !strings.Contains(err.Error(), "keys rotate") {
			t.Errorf("%s: %v", name, err)
		}
		rotated, err := f.Rotate()
		if err != nil || rotated.Before != key.ID() || (rotated.Kept == "") != (name == "gone") {
			t.Fatalf("%s: rotate: %+v, %v", name, rotated, err)
		}
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the old private key is still there: %v", name, err)
		}
		if text, err := os.ReadFile(rotated.Kept); rotated.Kept != "" && (err != nil || string(text) != half) {
			t.Errorf("%s: kept is %q, %v", name, text, err)
		}
		key = rotated.Now
	}
	current := filepath.Join(dir, currentFile)
	text, err := os.ReadFile(current)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(current, []byte("../elsewhere\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Rotate(); err == nil || !strings.Contains(err.Error(), "keys init") {
		t.Errorf("no id: %v", err)
	}
	if err := os.WriteFile(current, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return key
}

func TestTrust(t *testing.T) {
	key, err := Open(filepath.Join(t.TempDir(), "keys")).Init()
	if err != nil {
		t.Fatal(err)
	}
	var trust Trust
	if err := trust.Read("trust", []byte("# colleagues\n\n"+key.Public().Line("a colleague, lab 2")+"\n")); err != nil {
		t.Fatal(err)
	}
	if name, ok := trust.Name(key.ID()); !ok || name != "a colleague, lab 2" {
		t.Errorf("name %q, %t", name, ok)
	}
	if k, ok := trust.Key(key.ID()); !ok || k.ID() != key.ID() {
		t.Error("the key is not there")
	}
	if _, ok := trust.Name("other"); ok {
		t.Error("a stranger is known")
	}
	pub, err := ParsePublicKey(key.Public().PEM())
	if err != nil || pub.ID() != key.ID() {
		t.Errorf("PEM: %v", err)
	}
	for _, bad := range []string{"ed25519", "rsa AAAA x", "ed25519 AAAA x", "ed25519 % x"} {
		if err := trust.Read("trust", []byte("\n"+bad)); err == nil || !strings.Contains(err.Error(), "trust:2:") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
