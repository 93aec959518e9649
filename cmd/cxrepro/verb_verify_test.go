package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cxrepro/internal/contract"
	"cxrepro/internal/evaltest"
	"cxrepro/internal/verify"
)

// planted are secrets of the environment that no output may hold.
var planted = map[string]string{
	"AWS_ACCESS_KEY_ID": "AKIAPLANTED0000000A1", "AWS_SECRET_ACCESS_KEY": "planted-aws-secret-7f3e1d", "AWS_SESSION_TOKEN": "planted-aws-session-55aa91",
	"CXREPRO_TEST_ENDPOINT_KEY": "planted-endpoint-credential-c0ffee", "CXREPRO_SOMETHING": "planted-value-of-cxrepro-1234", "MINIO_SECRET_KEY": "planted-minio-secret-88d0",
}

// searched looks for the planted secrets, and for private keys outside the key folder.
func searched(t *testing.T, where string, data []byte) {
	t.Helper()
	for name, secret := range planted {
		if bytes.Contains(data, []byte(secret)) {
			t.Errorf("%s holds the secret of %s", where, name)
		}
	}
	if bytes.Contains(data, []byte("PRIVATE KEY")) {
		t.Errorf("%s holds a private key", where)
	}
}

// TestBundleMoves: a run is signed and exported in every format; in a fresh state folder the
// bundle verifies, and reproduces the same result without one request. No secret of the
// environment is in any output, file or log of it.
func TestBundleMoves(t *testing.T) {
	b := newAskedBench(t, guidedModel(), 4, false)
	for name, secret := range planted {
		b.environment = append(b.environment, name+"="+secret)
	}
	cards := filepath.Join(b.dir, evaltest.EndpointsFile)
	text, err := os.ReadFile(cards)
	require.NoError(t, err)
	text = bytes.Replace(text, []byte("    models:\n"), []byte("    credential_env: CXREPRO_TEST_ENDPOINT_KEY\n    models:\n"), 1)
	require.NoError(t, os.WriteFile(cards, text, 0o644))

	say := func(args ...string) (int, []byte) {
		t.Helper()
		var out, talk bytes.Buffer
		c := b.command(args...)
		c.Stdout, c.Stderr = &out, &talk
		err := c.Run()
		searched(t, strings.Join(args, " "), append(bytes.Clone(out.Bytes()), talk.Bytes()...))
		code := c.ProcessState.ExitCode()
		if err != nil && code < 0 {
			t.Fatalf("%v: %v\n%s", args, err, talk.String())
		}
		t.Logf("%v: exit %d\n%s", args, code, talk.String())
		return code, out.Bytes()
	}
	code, line := say("keys", "init")
	require.Equal(t, exitOK, code)
	require.NoError(t, os.WriteFile(filepath.Join(b.dir, "colleagues.txt"), line, 0o644))
	code, receipt, talk := b.run()
	require.Equal(t, exitOK, code, talk)
	searched(t, "the talk of run", []byte(talk))
	asked := b.lab.Responder.Counts().Requests
	require.Positive(t, asked)

	file := filepath.Join(b.dir, "moved.cxbundle.zip")
	for format, out := range map[string]string{"bundle": file, "ro-crate": "crate", "openlineage": "events.jsonl", "mlflow": "mlruns"} {
		code, _ := say("export", "--format", format, "--out", out)
		require.Equal(t, exitOK, code, format)
	}
	code, out := say("verify", "--require-signed", "--json")
	require.Equal(t, exitOK, code)
	var here verify.Report
	require.NoError(t, json.Unmarshal(out, &here))
	require.True(t, here.Signed())
	require.Equal(t, verify.Outcomes, here.Level)

	// Elsewhere: another state folder, no data set, no endpoint.
	first := b.state
	b.state = filepath.Join(b.dir, "elsewhere")
	code, out = say("verify", file, "--json")
	require.Equal(t, exitOK, code, "a signer that is not known is no error")
	var there verify.Report
	require.NoError(t, json.Unmarshal(out, &there))
	require.Equal(t, here.Ledger, there.Ledger)
	require.Equal(t, verify.Outcomes, there.Level)
	require.False(t, there.Signed())
	code, _ = say("verify", file, "--require-signed", "--level", "1")
	require.Equal(t, exitFailed, code)
	code, _ = say("verify", file, "--require-signed", "--level", "1", "--trust", "colleagues.txt")
	require.Equal(t, exitOK, code)

	code, _ = say("reproduce", file, "--data", "strange="+b.dir)
	require.Equal(t, exitUsage, code)
	require.NoDirExists(t, filepath.Join(b.state, "store"), "nothing is taken in before the command is understood")
	code, out = say("reproduce", file, "--json", "--heartbeat-timeout", "2s", "--retry-interval", "100ms")
	require.Equal(t, exitOK, code)
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	var again contract.Receipt
	require.NoError(t, json.Unmarshal(lines[len(lines)-1], &again))
	require.Equal(t, receipt.Reproduction, again.Reproduction)
	require.Equal(t, receipt.ResultDigest, again.ResultDigest)
	require.Contains(t, string(lines[0]), `"equal":true`)
	var compared struct {
		Steps int `json:"imported_steps"`
		Calls int `json:"imported_calls"`
	}
	require.NoError(t, json.Unmarshal(lines[0], &compared))
	require.Equal(t, [2]int{receipt.Steps.Needed, receipt.Calls.Needed}, [2]int{compared.Steps, compared.Calls}, "all of it came with the bundle")
	require.Equal(t, asked, b.lab.Responder.Counts().Requests, "nobody was asked")

	data, err := os.ReadFile(file)
	require.NoError(t, err)
	data[len(data)/3] ^= 1
	broken := filepath.Join(b.dir, "broken.zip")
	require.NoError(t, os.WriteFile(broken, data, 0o644))
	code, _ = say("verify", broken, "--level", "1")
	require.Equal(t, exitFailed, code)
	code, _ = say("reproduce", broken)
	require.Equal(t, exitFailed, code)

	for _, dir := range []string{first, b.state, filepath.Join(b.dir, "crate"), filepath.Join(b.dir, "mlruns"), file, filepath.Join(b.dir, "events.jsonl")} {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || strings.HasSuffix(path, ".key") {
				return err
			}
			data, err := os.ReadFile(path)
			searched(t, path, data)
			return err
		})
		require.NoError(t, err)
	}
	info, err := os.Stat(filepath.Join(first, "keys"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
}

// TestQuotesStrangers: what a stranger's bundle calls its entries is printed, not obeyed.
func TestQuotesStrangers(t *testing.T) {
	var out bytes.Buffer
	printVerified(&out, &verify.Report{
		Name: "run\x1b[2J", Reproduction: "0123456789abcdef", Tables: []verify.Table{{Table: 3, Why: "a\tb"}}, Cells: []verify.Cell{{Ref: "3/a\x07"}},
		Faults: []verify.Fault{{Level: verify.Bytes, Object: "store/x\nwrong at L4: \u202e", What: "an answer", Detail: "it is not there"}},
	})
	text := out.String()
	require.NotContains(t, text, "\x1b")
	require.NotContains(t, text, "\x07")
	require.NotContains(t, text, "\u202e")
	require.NotContains(t, text, "\nwrong at L4")
	require.Contains(t, text, `wrong at L1: an answer: "store/x\nwrong at L4: \u202e": it is not there`)
}

// TestTamesStrangers: what an error or a plan of a stranger holds is spelled out.
func TestTamesStrangers(t *testing.T) {
	var out bytes.Buffer
	report(&out, &exitError{Code: exitFailed, Err: errors.New("entry a\x1b[2Jb \u202e\xff\u00e9\tc\nd"), Hint: "x\x07"})
	require.Equal(t, "cxrepro: error: entry a\\x1b[2Jb \\u202e\\xff\u00e9\tc\nd\ncxrepro: hint: x\\a\n", out.String())
	for text, bad := range map[string]bool{
		`{"a": ["x", {"b": "\u001b[2J"}]}`: true, `{"a\u0007": 1}`: true, `{"a": ["x\ny", {"b": "\u00e9"}], "n": 1}`: false,
	} {
		var v any
		require.NoError(t, json.Unmarshal([]byte(text), &v))
		_, found := untamedIn(v)
		require.Equal(t, bad, found, text)
	}
}

// TestKeysAndNoFile: a damaged key says how to replace it, and is replaced; a bundle that is not
// there is wrong usage.
func TestKeysAndNoFile(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	code, _, talk := cxrepro(t, store, "reproduce", filepath.Join(filepath.Dir(store), "nowhere.zip"))
	require.Equal(t, exitUsage, code, talk)
	require.NotContains(t, talk, "verify")

	code, _, talk = cxrepro(t, store, "keys", "init")
	require.Equal(t, exitOK, code, talk)
	keys, err := filepath.Glob(filepath.Join(filepath.Dir(store), "state", "keys", "*.key"))
	require.NoError(t, err)
	require.Len(t, keys, 1)
	require.NoError(t, os.WriteFile(keys[0], nil, 0o600))
	code, _, talk = cxrepro(t, store, "keys", "show")
	require.Equal(t, exitFailed, code, talk)
	require.Contains(t, talk, "hint: `cxrepro keys rotate`")
	code, _, talk = cxrepro(t, store, "keys", "rotate")
	require.Equal(t, exitOK, code, talk)
	require.NoFileExists(t, keys[0])
	require.FileExists(t, keys[0]+".damaged")
	require.Contains(t, talk, keys[0]+".damaged")
	code, _, talk = cxrepro(t, store, "keys", "show")
	require.Equal(t, exitOK, code, talk)
}
