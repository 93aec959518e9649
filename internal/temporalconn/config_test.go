package temporalconn

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cxrepro/internal/devserver"
)

// secret is planted wherever a credential can stand; it must come out nowhere.
const secret = "planted-credential-3141592653"

// environment is a process environment of a test.
type environment map[string]string

func (e environment) Environ() (out []string) {
	for k, v := range e {
		out = append(out, k+"="+v)
	}
	return out
}

func (e environment) LookupEnv(k string) (string, bool) { v, ok := e[k]; return v, ok }

func TestResolve(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "temporal.toml")
	text := "[profile.default]\naddress = \"file.example.org:7233\"\nnamespace = \"from-file\"\n[profile.cloud]\naddress = \"cloud.example.org:7233\"\nnamespace = \"team.x1\"\napi_key = \"" + secret + "\"\n"
	broken := filepath.Join(dir, "broken.toml")
	for name, content := range map[string]string{file: text, broken: "[profile.default]\napi_key = \"" + secret + "\n"} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		o    Options
		env  environment
		want string // Config's text, or a part of the error's after "error: "
	}{
		{"nothing set", Options{}, nil, "embedded server, namespace cxrepro"},
		{"embedded asked for", Options{Address: Embedded, Namespace: "n"}, environment{"TEMPORAL_ADDRESS": "a:1"}, "embedded server, namespace n"},
		{"address by environment", Options{}, environment{"TEMPORAL_ADDRESS": "a.example.org:7233"}, "cluster a.example.org:7233, namespace default, TLS off"},
		{"flags win", Options{Address: "b.example.org:1", Namespace: "n"}, environment{"TEMPORAL_ADDRESS": "a:1", "TEMPORAL_NAMESPACE": "m"}, "cluster b.example.org:1, namespace n, TLS off"},
		{"API key means TLS", Options{Address: "a:1"}, environment{"TEMPORAL_API_KEY": secret}, "cluster a:1, namespace default, TLS on, API key ***"},
		{"file by environment", Options{}, environment{"TEMPORAL_CONFIG_FILE": file}, "cluster file.example.org:7233, namespace from-file, TLS off"},
		{"profile", Options{Profile: "cloud", ConfigFile: file}, nil, "cluster cloud.example.org:7233, namespace team.x1, TLS on, API key ***"},
		{"default file is not asked for", Options{}, environment{"XDG_CONFIG_HOME": dir}, "embedded server, namespace cxrepro"},
		{"no such profile", Options{Profile: "none", ConfigFile: file}, nil, "error: profile none"},
		{"no such file", Options{ConfigFile: filepath.Join(dir, "no.toml")}, nil, "error: no such file"},
		{"broken file", Options{ConfigFile: broken}, nil, "error: not valid near line 2"},
		{"no port", Options{Address: "a.example.org"}, nil, "error: is not HOST:PORT"},
		{"URL", Options{Address: "http://a.example.org:7233"}, nil, "error: is not HOST:PORT"},
		{"key in clear text", Options{Address: "a.example.org:1"}, environment{"TEMPORAL_API_KEY": secret, "TEMPORAL_TLS": "false"}, "error: clear text"},
		{"key to this machine", Options{Address: "127.0.0.1:1"}, environment{"TEMPORAL_API_KEY": secret, "TEMPORAL_TLS": "false"}, "cluster 127.0.0.1:1, namespace default, TLS off, API key ***"},
		{"half a key pair", Options{Address: "a:1"}, environment{"TEMPORAL_TLS_CLIENT_KEY_DATA": secret}, "error: TLS"},
		{"bad key pair", Options{Address: "a:1"}, environment{"TEMPORAL_TLS_CLIENT_KEY_DATA": secret, "TEMPORAL_TLS_CLIENT_CERT_DATA": secret}, "error: TLS"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Environment = c.env
			if c.env == nil {
				c.o.Environment = environment{}
			}
			got, err := c.o.Resolve()
			if part, ok := strings.CutPrefix(c.want, "error: "); ok {
				var e *Error
				if !errors.As(err, &e) || e.Kind != KindConfig || e.Hint() == "" || !strings.Contains(err.Error(), part) {
					t.Errorf("error %v, want one of KindConfig with a hint and %q", err, part)
				}
			} else if err != nil || got.String() != c.want {
				t.Errorf("got %v, %v; want %s", got, err, c.want)
			}
			for _, text := range []string{fmt.Sprint(got), fmt.Sprintf("%v", err), strings.Join(got.Ignored, " ")} {
				if strings.Contains(text, secret) {
					t.Errorf("the credential is in %q", text)
				}
			}
		})
	}
}

// TestIgnored says which settings have no effect on the embedded server.
func TestIgnored(t *testing.T) {
	c, err := Options{Environment: environment{"TEMPORAL_API_KEY": secret, "TEMPORAL_NAMESPACE": "x"}, Server: devserver.Options{}}.Resolve()
	if err != nil || !c.Embedded || len(c.Ignored) != 2 {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestLogger(t *testing.T) {
	var b bytes.Buffer
	l := NewLogger(slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})))
	l.Info("quiet", "WorkflowID", "w")
	l.Warn("loud", "WorkflowID", "w", "Attempt", 2, "Error", errors.New("x"), "other", 1)
	if got, want := b.String(), "level=WARN msg=loud workflow_id=w attempt=2 err=x other=1\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	NewLogger(nil).Error("nobody hears this")
}

func TestKindNames(t *testing.T) {
	for k := KindConfig; k <= KindEmbedded; k++ {
		if strings.HasPrefix(k.String(), "Kind(") {
			t.Errorf("kind %d has no name", k)
		}
	}
	if got := Kind(0).String(); got != "Kind(0)" {
		t.Errorf("zero kind prints %q", got)
	}
}
