package textseg

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cxrepro/artifacts"
	"cxrepro/internal/datause"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/mask"
)

// standIn is a segmenter that finds what is brighter than 200 when it is asked for "bright
// spot", and nothing for any other words.
type standIn struct {
	t     *testing.T
	token string
	asked int
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked++
	if s.token != "" && r.Header.Get("Authorization") != "Bearer "+s.token {
		w.WriteHeader(401)
		_, _ = w.Write([]byte(`{"error":{"code":"token","message":"wrong token ` + r.Header.Get("Authorization") + `"}}`))
		return
	}
	var q request
	require.NoError(s.t, json.NewDecoder(r.Body).Decode(&q))
	data, err := base64.StdEncoding.DecodeString(q.Image.Data)
	require.NoError(s.t, err)
	m, err := png.Decode(bytes.NewReader(data))
	require.NoError(s.t, err)
	b := m.Bounds()
	found := mask.FromFunc(b.Dx(), b.Dy(), func(x, y int) bool {
		return q.Prompt == "bright spot" && color.GrayModel.Convert(m.At(x, y)).(color.Gray).Y > 200
	})
	require.NoError(s.t, json.NewEncoder(w).Encode(map[string]any{"model": q.Model, "size": []int{b.Dy(), b.Dx()}, "counts": found.EncodeCOCO()}))
}

var ref = artifacts.Ref{Digest: artifacts.Sum([]byte("film")), MediaType: "image/png"}

// film is a grey picture with a bright rectangle.
func film(t *testing.T) []byte {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, 80, 60))
	for y := range 60 {
		for x := range 80 {
			m.SetGray(x, y, color.Gray{Y: 90})
			if x >= 20 && x < 30 && y >= 40 && y < 44 {
				m.SetGray(x, y, color.Gray{Y: 230})
			}
		}
	}
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, m))
	return b.Bytes()
}

func client(t *testing.T, h http.Handler, change func(*Options)) *Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	o := Options{URL: s.URL + "/v1/segment", Model: "stand-in-1", Class: datause.Synthetic, Attestation: datause.Attestation{Local: true},
		Picture: func(context.Context, artifacts.Ref) ([]byte, error) { return film(t), nil }}
	if change != nil {
		change(&o)
	}
	c, err := New(o)
	require.NoError(t, err)
	return c
}

func TestFind(t *testing.T) {
	s := &standIn{t: t, token: "secret-1"}
	c := client(t, s, func(o *Options) { o.Credential = lvlm.NewSecret("secret-1") })
	m, err := c.Find(t.Context(), ref, "bright spot")
	require.NoError(t, err)
	b, ok := m.Box()
	require.True(t, ok)
	require.Equal(t, [6]int{20, 29, 40, 43, 80, 60}, [6]int{b.X0, b.X1, b.Y0, b.Y1, m.W, m.H})
	require.Equal(t, 40, m.Area())
	m, err = c.Find(t.Context(), ref, "dark spot")
	require.NoError(t, err)
	require.True(t, m.IsEmpty())
	require.Equal(t, map[string]any{"segmenter": 1, "model": "stand-in-1"}, Identity("stand-in-1"))

	c = client(t, s, func(o *Options) { o.Credential = lvlm.NewSecret("secret-2") })
	_, err = c.Find(t.Context(), ref, "bright spot")
	var call *lvlm.CallError
	require.ErrorAs(t, err, &call)
	require.Equal(t, 401, call.Status)
	require.NotContains(t, err.Error(), "secret-2", "a service that repeats the token")
}

// TestNothingLeavesUnattested holds that credentialed pictures are not sent to a place that
// vouches for nothing.
func TestNothingLeavesUnattested(t *testing.T) {
	s := &standIn{t: t}
	for _, c := range datause.Classes() {
		if c == datause.Synthetic || datause.AllowEndpoint(c, datause.Attestation{}, time.Now()) == nil {
			continue
		}
		k := client(t, s, func(o *Options) { o.Class, o.Attestation = c, datause.Attestation{} })
		_, err := k.Find(t.Context(), ref, "bright spot")
		var denied *datause.DeniedError
		require.ErrorAs(t, err, &denied, "%s", c)
	}
	require.Zero(t, s.asked)
}

// TestFailures holds the class of every failure; none of them is an empty mask.
func TestFailures(t *testing.T) {
	says := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	for _, c := range []struct {
		name  string
		serve http.HandlerFunc
		class lvlm.Class
	}{
		{"busy", says(429, `{"error":{"code":"busy","message":"later"}}`), lvlm.Throttled},
		{"broken", says(500, "x"), lvlm.Transient},
		{"another model", says(200, `{"model":"other","size":[1,1],"counts":"1"}`), lvlm.Configured},
		{"no JSON", says(200, "x"), lvlm.Configured},
		{"no size", says(200, `{"model":"stand-in-1","counts":"1"}`), lvlm.Configured},
		{"far too large", says(200, `{"model":"stand-in-1","size":[1,100000],"counts":"1"}`), lvlm.Configured},
		{"runs that do not fit", says(200, `{"model":"stand-in-1","size":[2,2],"counts":"9999"}`), lvlm.Configured},
		{"stalled", func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // the server notices a client that left only behind the body
			<-r.Context().Done()
		}, lvlm.Transient},
	} {
		k := client(t, c.serve, func(o *Options) { o.Timeout = 300 * time.Millisecond })
		_, err := k.Find(t.Context(), ref, "bright spot")
		var call *lvlm.CallError
		require.ErrorAs(t, err, &call, c.name)
		require.Equal(t, c.class, call.Class, c.name)
		if call.Status == 429 {
			require.Equal(t, 7*time.Second, call.RetryAfter)
		}
		require.NotContains(t, err.Error(), "bright spot")
	}
	k := client(t, says(200, ""), func(o *Options) {
		o.Picture = func(context.Context, artifacts.Ref) ([]byte, error) { return nil, errors.New("gone") }
	})
	_, err := k.Find(t.Context(), ref, "x")
	require.ErrorContains(t, err, "gone")
}

func TestNewRefuses(t *testing.T) {
	ok := Options{URL: "http://127.0.0.1:1/x", Model: "m", Picture: func(context.Context, artifacts.Ref) ([]byte, error) { return nil, nil }}
	for name, change := range map[string]func(*Options){
		"no address": func(o *Options) { o.URL = "" }, "no scheme": func(o *Options) { o.URL = "host:1" }, "credentials": func(o *Options) { o.URL = "http://a:b@h/" },
		"no model": func(o *Options) { o.Model = "" }, "no pictures": func(o *Options) { o.Picture = nil },
	} {
		o := ok
		change(&o)
		_, err := New(o)
		require.Error(t, err, name)
	}
}
