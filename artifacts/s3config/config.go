package s3config

import (
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Secret is a text that never prints: not in messages, not in JSON, not in logs.
type Secret string

// String returns ***.
func (Secret) String() string { return "***" }

// GoString returns ***.
func (Secret) GoString() string { return "***" }

// MarshalText returns ***.
func (Secret) MarshalText() ([]byte, error) { return []byte("***"), nil }

// LogValue returns ***.
func (Secret) LogValue() slog.Value { return slog.StringValue("***") }

// Reveal returns the text itself, for the one call that needs it.
func (s Secret) Reveal() string { return string(s) }

// Credentials are fixed credentials. Programs normally leave them out and let the
// client's own chain (environment, configuration files, machine role) find them.
type Credentials struct {
	AccessKey    string
	SecretKey    Secret
	SessionToken Secret
}

// Kinds of server-side encryption.
const (
	SSEAES256 = "AES256"
	SSEKMS    = "aws:kms"
)

// Config is where a store lies and how it is reached.
type Config struct {
	Scheme    string // "s3" or "minio": which client
	Bucket    string
	Prefix    string // without slashes at its ends; "" for none
	Endpoint  string // https://host:port; "" means AWS
	Region    string // "" lets the client find it; minio means us-east-1 then
	PathStyle bool   // bucket in the path, not in the host name
	CAFile    string // PEM file of authorities trusted besides the system's
	SSE       string // "", AES256 or aws:kms
	KMSKey    string // key of aws:kms; "" means the bucket's default key
	// Attest lists the data classes that this store is configured to hold.
	Attest []string

	// Credentials, when set, replace the client's chain. They never come from a URL.
	Credentials *Credentials
}

var (
	bucketPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	classPattern  = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	known         = []string{"endpoint", "region", "path_style", "ca", "sse", "kms_key", "attest"}
)

// Parse reads scheme://bucket/prefix?setting=value&... and checks it. Unknown settings,
// settings given twice, and credentials in the URL are refused.
func Parse(address string) (Config, error) {
	u, err := url.Parse(address)
	if err != nil {
		return Config{}, fmt.Errorf("store address: %w", hideURL(err))
	}
	if u.User != nil {
		return Config{}, fmt.Errorf("store address %s://...@%s: credentials do not belong in a URL; set them in the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY)", u.Scheme, u.Host)
	}
	c := Config{Scheme: u.Scheme, Bucket: u.Host, Prefix: strings.Trim(u.Path, "/")}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Config{}, fmt.Errorf("store address %s: %w", c.URL(), err)
	}
	for name, values := range q {
		if !slices.Contains(known, name) {
			return Config{}, fmt.Errorf("store address %s: setting %q is not known; there are %s", c.URL(), name, strings.Join(known, ", "))
		}
		if len(values) > 1 {
			return Config{}, fmt.Errorf("store address %s: setting %q is given %d times", c.URL(), name, len(values))
		}
	}
	c.Endpoint = strings.TrimRight(q.Get("endpoint"), "/")
	c.Region, c.CAFile, c.SSE, c.KMSKey = q.Get("region"), q.Get("ca"), q.Get("sse"), q.Get("kms_key")
	c.PathStyle = c.Endpoint != ""
	if q.Has("path_style") {
		if c.PathStyle, err = strconv.ParseBool(q.Get("path_style")); err != nil {
			return Config{}, fmt.Errorf("store address %s: path_style is %q, want true or false", c.URL(), q.Get("path_style"))
		}
	}
	if q.Get("attest") != "" {
		c.Attest = strings.Split(q.Get("attest"), ",")
	}
	return c, c.Validate()
}

// hideURL keeps what a malformed URL says out of the message: it may hold credentials.
func hideURL(err error) error {
	if ue, ok := err.(*url.Error); ok {
		return ue.Err
	}
	return err
}

// Validate names the first setting that is wrong.
func (c Config) Validate() error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("store address %s: %s", c.URL(), fmt.Sprintf(format, args...))
	}
	if c.Scheme != "s3" && c.Scheme != "minio" {
		return fail("scheme %q, want s3 or minio", c.Scheme)
	}
	if !bucketPattern.MatchString(c.Bucket) {
		return fail("bucket %q, want 3 to 63 of a-z, 0-9, . and -", c.Bucket)
	}
	if strings.Contains(c.Prefix, "//") || strings.HasPrefix(c.Prefix, ".") || strings.Contains(c.Prefix, "/.") {
		return fail("prefix %q has an empty part or one that begins with a dot", c.Prefix)
	}
	if c.Endpoint == "" && c.Scheme == "minio" {
		return fail("endpoint is missing; add ?endpoint=https://host:port")
	}
	if c.Endpoint != "" {
		e, err := url.Parse(c.Endpoint)
		if err != nil || e.Host == "" || e.Path != "" || e.RawQuery != "" || e.User != nil || e.Scheme != "http" && e.Scheme != "https" {
			return fail("endpoint must be http://host:port or https://host:port")
		}
		if e.Scheme == "http" && c.CAFile != "" {
			return fail("ca has no meaning for an http endpoint")
		}
	}
	if c.SSE != "" && c.SSE != SSEAES256 && c.SSE != SSEKMS {
		return fail("sse is %q, want %s or %s", c.SSE, SSEAES256, SSEKMS)
	}
	if c.KMSKey != "" && c.SSE != SSEKMS {
		return fail("kms_key needs sse=%s", SSEKMS)
	}
	for _, class := range c.Attest {
		if !classPattern.MatchString(class) {
			return fail("attest names the class %q, want lower-case letters, digits and -", class)
		}
	}
	return nil
}

// URL returns the store's address without settings and credentials.
func (c Config) URL() string {
	s := c.Scheme + "://" + c.Bucket
	if c.Prefix != "" {
		s += "/" + c.Prefix
	}
	return s
}

// Key returns the key of an object in the bucket.
func (c Config) Key(name string) string {
	if c.Prefix == "" {
		return name
	}
	return c.Prefix + "/" + name
}

// Name returns the object of a key; it is Key's inverse.
func (c Config) Name(key string) string {
	if c.Prefix == "" {
		return key
	}
	return strings.TrimPrefix(key, c.Prefix+"/")
}

// Settings lists, for people, how the store is reached.
func (c Config) Settings() map[string]string {
	m := map[string]string{"bucket": c.Bucket, "client": c.Scheme, "path_style": strconv.FormatBool(c.PathStyle), "tls": "on"}
	set := func(name, value string) {
		if value != "" {
			m[name] = value
		}
	}
	set("prefix", c.Prefix)
	set("endpoint", c.Endpoint)
	set("region", c.Region)
	set("ca", c.CAFile)
	set("sse", c.SSE)
	set("attest", strings.Join(c.Attest, ","))
	if strings.HasPrefix(c.Endpoint, "http://") {
		m["tls"] = "off"
	}
	return m
}
