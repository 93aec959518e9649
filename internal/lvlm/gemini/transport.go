package gemini

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/auth/credentials"

	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/picture"
	"cxrepro/internal/lvlm/wire"
)

// try is one request on its way through the SDK: what it needs of us, and what we see of it.
type try struct {
	pictures []picture.Encoded
	body     wire.Body
	watch    wire.Watch
	token    lvlm.Secret
	status   int
	header   http.Header
}

type tryKey struct{}

// errPictures says that the SDK built a body whose pictures are not where they were.
var errPictures = errors.New("gemini: the SDK's request holds other pictures than were asked about")

// mark is what stands for picture i in what the SDK is given.
func mark(i int) []byte { return fmt.Appendf(nil, "picture %d", i) }

// fill takes the request with marks and gives it its pictures: pieces of the SDK's text with
// encoded pictures between, which are not copied.
func (t *try) fill(r *http.Request) error {
	if r.Body == nil {
		return errPictures
	}
	text, err := io.ReadAll(r.Body)
	_ = r.Body.Close()
	if err != nil {
		return err
	}
	t.body = wire.Body{}
	for i, p := range t.pictures {
		// Within a text of the request the quotation marks would be escaped.
		at := []byte(`"data":"` + base64.StdEncoding.EncodeToString(mark(i)) + `"`)
		before, after, ok := bytes.Cut(text, at)
		if !ok || bytes.Contains(after, at) {
			return errPictures
		}
		t.body.Text(before)
		t.body.Text([]byte(`"data":"`))
		t.body.Add(p)
		text = append([]byte(`"`), after...)
	}
	t.body.Text(text)
	t.body.Put(r)
	return nil
}

// tokenError is a failure to get an access token.
type tokenError struct{ err error }

func (e *tokenError) Error() string { return "gemini: no access token" }
func (e *tokenError) Unwrap() error { return e.err }

// passes reports whether another attempt may succeed: the token service was away.
func (e *tokenError) passes() bool {
	var a *auth.Error
	if errors.As(e.err, &a) && a.Response != nil {
		return a.Response.StatusCode >= 500 || a.Response.StatusCode == http.StatusRequestTimeout || a.Response.StatusCode == http.StatusTooManyRequests
	}
	return a == nil
}

// authorised adds the access token, and notes status and header of the reply for the try in
// the request's context.
type authorised struct {
	next        http.RoundTripper
	credentials *auth.Credentials
}

func (a *authorised) RoundTrip(r *http.Request) (*http.Response, error) {
	t, _ := r.Context().Value(tryKey{}).(*try)
	if t == nil {
		return nil, errors.New("gemini: a request that is no question of ours")
	}
	token, err := a.credentials.Token(r.Context())
	if err != nil {
		return nil, &tokenError{err}
	}
	t.token = lvlm.NewSecret(token.Value)
	r = r.Clone(r.Context())
	if err := t.fill(r); err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+token.Value)
	if project, err := a.credentials.QuotaProjectID(r.Context()); err == nil && project != "" {
		r.Header.Set("X-Goog-User-Project", project)
	}
	res, err := a.next.RoundTrip(r)
	if err == nil {
		t.status, t.header = res.StatusCode, res.Header
	}
	return res, err
}

// scope is what the access token is for.
const scope = "https://www.googleapis.com/auth/cloud-platform"

// Credentials reads a credentials file of a service account or a user; an empty path means
// the machine's default credentials.
//
// Errors: *lvlm.CallError of class Denied. None of them shows what the file holds.
func Credentials(path string) (*auth.Credentials, error) {
	denied := func(format string, args ...any) error {
		return &lvlm.CallError{Class: lvlm.Denied, Detail: fmt.Sprintf(format, args...)}
	}
	o := &credentials.DetectOptions{Scopes: []string{scope}}
	if path == "" {
		c, err := credentials.DetectDefault(o)
		if err != nil {
			return nil, denied("this machine has no default credentials of Google Cloud; name a credentials file with credential_env")
		}
		return c, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, denied("the credentials file that the endpoint card's credential_env names cannot be read")
	}
	var doc struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(data, &doc)
	kind := credentials.CredType(doc.Type)
	if kind != credentials.ServiceAccount && kind != credentials.AuthorizedUser {
		return nil, denied("the credentials file that the endpoint card's credential_env names is of no known type; want a service_account or an authorized_user")
	}
	c, err := credentials.NewCredentialsFromJSON(kind, data, o)
	if err != nil {
		return nil, denied("the credentials file that the endpoint card's credential_env names is not complete")
	}
	return c, nil
}
