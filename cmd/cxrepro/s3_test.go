package main

import (
	"bytes"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cxrepro/artifacts/storetest"
	"cxrepro/internal/contract"
)

// onS3 makes the bench keep its artifacts on a server, with the server's credentials in the
// environment as a user has them, and nowhere else.
func (b *bench) onS3(s *storetest.S3, scheme, prefix string) {
	b.store = s.Address(scheme, prefix)
	none := filepath.Join(b.dir, "none")
	b.credentials = []string{
		"AWS_ACCESS_KEY_ID=" + s.AccessKey, "AWS_SECRET_ACCESS_KEY=" + s.SecretKey.Reveal(), "AWS_SESSION_TOKEN=", "AWS_PROFILE=",
		"AWS_EC2_METADATA_DISABLED=true", "AWS_CONFIG_FILE=" + none, "AWS_SHARED_CREDENTIALS_FILE=" + none, "MINIO_ACCESS_KEY=", "HOME=" + b.dir,
		"CXREPRO_CACHE=" + cacheOfUser(b.t),
	}
}

// cacheOfUser is the cache folder that commands share although their home is another one.
func cacheOfUser(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("CXREPRO_CACHE"); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "cxrepro")
}

// TestRunOnS3 runs the demo's experiment, with real inference, in a folder and then through
// both clients on an S3 server with real signatures and checksums: with the server gone for
// a while, and through a SIGKILL and a resume. The results are the same to the byte, and
// the credentials are found nowhere afterwards.
func TestRunOnS3(t *testing.T) {
	folder := phantomBench(t, 4)
	code, want, talk := folder.run()
	if code != exitOK {
		t.Fatalf("folder: exit %d\n%s", code, talk)
	}
	server := storetest.StartS3(t, storetest.S3Options{})
	on := func(t *testing.T, scheme string) *bench {
		b := *folder
		b.t, b.state = t, filepath.Join(b.dir, "state-"+scheme)
		b.onS3(server, scheme, "demo-"+scheme)
		return &b
	}
	same := func(b *bench, code int, got *contract.Receipt, said string) {
		b.t.Helper()
		if code != exitOK {
			b.t.Fatalf("exit %d\n%s", code, said)
		}
		if got.ResultDigest != want.ResultDigest || got.Reproduction != want.Reproduction {
			b.t.Errorf("on S3 %s of %s, in a folder %s of %s", got.ResultDigest, got.Reproduction, want.ResultDigest, want.Reproduction)
		}
		if got.Steps.Needed != want.Steps.Needed || got.Steps.Run != want.Steps.Run {
			b.t.Errorf("steps %+v, in a folder %+v", got.Steps, want.Steps)
		}
		out, err := b.command("status", got.Reproduction).CombinedOutput()
		if err != nil {
			b.t.Errorf("status: %v\n%s", err, out)
		}
		b.nowhere(server.SecretKey.Reveal(), said+string(out), b.state, server.Data())
		b.nowhere(server.AccessKey, said+string(out), b.state)
	}
	t.Run("s3 gone and back", func(t *testing.T) {
		b := on(t, "s3")
		proxy := storetest.NewProxy(t, server.Endpoint)
		b.store = strings.Replace(b.store, url.QueryEscape(server.Endpoint), url.QueryEscape(proxy.Endpoint), 1)
		gone := make(chan struct{})
		var once sync.Once
		proxy.Answer(func(r *http.Request) int {
			if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/index/"+contract.StepSegment+"/") {
				once.Do(func() { server.Kill(); close(gone) })
			}
			return 0
		})
		missed := &word{text: "trying again: ", heard: make(chan struct{})}
		b.hear = missed
		back := make(chan struct{})
		go func() {
			defer close(back)
			<-gone
			select {
			case <-missed.heard:
			case <-time.After(20 * time.Second):
			}
			server.Restart(t)
		}()
		code, got, talk := b.run()
		<-back
		same(b, code, got, talk)
		if !strings.Contains(talk, "trying again: ") || !strings.Contains(talk, "store unreachable") {
			t.Errorf("no word about the store that was gone:\n%s", talk)
		}
	})
	t.Run("minio killed and resumed", func(t *testing.T) {
		b := on(t, "minio")
		b.environment = []string{"CXREPRO_FAULT=after-blob-put:9"}
		code, _, killed := b.run()
		if code != -1 {
			t.Fatalf("exit %d, want killed\n%s", code, killed)
		}
		b.environment = nil
		code, got, talk := b.run()
		same(b, code, got, killed+talk)
	})
}

// word is closed once a text was written.
type word struct {
	text  string
	all   []byte
	heard chan struct{}
}

func (w *word) Write(p []byte) (int, error) {
	before := bytes.Contains(w.all, []byte(w.text))
	w.all = append(w.all, p...)
	if !before && bytes.Contains(w.all, []byte(w.text)) {
		close(w.heard)
	}
	return len(p), nil
}

// nowhere holds that a secret is in no output and in no file below the folders.
func (b *bench) nowhere(secret, said string, dirs ...string) {
	b.t.Helper()
	if strings.Contains(said, secret) {
		b.t.Errorf("output holds a credential:\n%s", strings.ReplaceAll(said, secret, "<here>"))
	}
	for _, dir := range dirs {
		files := 0
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			files++
			data, err := os.ReadFile(path)
			if err == nil && bytes.Contains(data, []byte(secret)) {
				b.t.Errorf("%s holds a credential", path)
			}
			return err
		})
		if err != nil || files < 5 {
			b.t.Errorf("%s: looked through %d files, want more (%v)", dir, files, err)
		}
	}
}

// TestStoreRefusals holds that a store that cannot be used is named, with what to do, by
// exit code 6, or 2 where the address itself is wrong; and that no address with a secret in
// it is repeated.
func TestStoreRefusals(t *testing.T) {
	b := newBench(t, 1)
	server := storetest.StartS3(t, storetest.S3Options{})
	const secret = "PLANTEDSECRETPLANTEDSECRET"
	for _, c := range []struct {
		name  string
		store string
		env   []string
		code  int
		want  []string
	}{
		{"wrong secret", "", []string{"AWS_SECRET_ACCESS_KEY=" + secret}, exitUnreachable, []string{"access denied", "hint: the secret key does not belong to the access key: correct AWS_SECRET_ACCESS_KEY"}},
		{"unknown key", "", []string{"AWS_ACCESS_KEY_ID=AKNOBODY", "AWS_SECRET_ACCESS_KEY=" + secret}, exitUnreachable, []string{"access denied", "hint: the store does not know this access key: correct AWS_ACCESS_KEY_ID"}},
		{"no credentials", "", []string{"AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY="}, exitUnreachable, []string{"access denied", "hint: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"}},
		{"no bucket", "%s://not-there/p?endpoint=" + server.Endpoint + "&path_style=true&region=eu-test-1", nil, exitUnreachable, []string{"hint: create the bucket not-there, or correct its name"}},
		{"nobody listens", "%s://bucket/p?endpoint=http://127.0.0.1:9&path_style=true&region=eu-test-1", nil, exitUnreachable, []string{"store unreachable", "hint: is the store running, and is endpoint= right?"}},
		{"secret in the address", "%s://KEY:" + secret + "@bucket/p?endpoint=" + server.Endpoint, nil, exitUsage, []string{"credentials"}},
		{"secret as a setting", "%s://bucket/p?secret_key=" + secret + "&endpoint=" + server.Endpoint, nil, exitUsage, []string{"secret_key"}},
		{"unknown setting", "%s://bucket/p?endpont=x", nil, exitUsage, []string{`"endpont"`}},
	} {
		for _, scheme := range []string{"s3", "minio"} {
			b.onS3(server, scheme, "refused")
			if c.store != "" {
				b.store = strings.Replace(c.store, "%s", scheme, 1)
			}
			b.environment = c.env
			out, err := b.command("run", "spec.yaml", "--data", "golden-cases=data").CombinedOutput()
			var code int
			if ee, ok := err.(*exec.ExitError); ok {
				code = ee.ExitCode()
			}
			if code != c.code {
				t.Errorf("%s, %s: exit %d, want %d", c.name, scheme, code, c.code)
			}
			for _, want := range append(c.want, "error: ") {
				if !strings.Contains(string(out), want) {
					t.Errorf("%s, %s: no %q in\n%s", c.name, scheme, want, out)
				}
			}
			if strings.Contains(string(out), secret) {
				t.Errorf("%s, %s: the message repeats the secret:\n%s", c.name, scheme, out)
			}
		}
	}
}
