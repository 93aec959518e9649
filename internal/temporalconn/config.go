package temporalconn

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"regexp"
	"strings"

	"cxrepro/internal/devserver"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
)

// Embedded is the address that asks for the embedded server whatever the environment says.
const Embedded = "embedded"

// SearchAttributes are the Keyword attributes that reproductions carry. None of them holds
// anything about a patient.
var SearchAttributes = []string{"Paper", "ReproductionID", "Stage", "DataUse"}

// Options say where Temporal is. The zero value, with Embedded filled in, is the embedded
// server unless the environment names a cluster.
type Options struct {
	// Address is HOST:PORT or Embedded, Namespace and Profile are names, ConfigFile is a
	// path. What is empty comes from the environment and the profile.
	Address, Namespace, Profile, ConfigFile string

	// Identity is shown by Temporal beside what this process did; empty means
	// cxrepro@host:pid.
	Identity string

	// Logger takes what the SDK says; nil means silence.
	Logger *slog.Logger

	// Attributes must exist in the namespace; nil means SearchAttributes, empty none.
	Attributes []string

	// Server are the options of the embedded server.
	Server devserver.Options

	// Environment replaces the process's environment; nil means that one.
	Environment envconfig.EnvLookup
}

// Config is where Options and environment together point to.
type Config struct {
	Embedded  bool
	Address   string // empty if embedded
	Namespace string
	TLS       string   // "off", "on", "on, client certificate"
	APIKey    bool     // one is set
	Ignored   []string // settings that are set and have no effect, for people

	client client.Options
}

// String describes the connection without any secret.
func (c Config) String() string {
	if c.Embedded {
		return "embedded server, namespace " + c.Namespace
	}
	s := fmt.Sprintf("cluster %s, namespace %s, TLS %s", c.Address, c.Namespace, c.TLS)
	if c.APIKey {
		s += ", API key ***"
	}
	return s
}

// Resolve returns where the options point to, without connecting.
//
// Errors: *Error of KindConfig.
func (o Options) Resolve() (Config, error) {
	env := o.Environment
	if env == nil {
		env = envconfig.EnvLookupOS
	}
	lookup := func(name string) string { v, _ := env.LookupEnv(name); return v }
	address := o.Address
	if address == "" {
		address = lookup("TEMPORAL_ADDRESS")
	}
	file := o.ConfigFile
	if file == "" {
		file = lookup("TEMPORAL_CONFIG_FILE")
	}
	named := o.Profile != "" || lookup("TEMPORAL_PROFILE") != "" || file != ""
	if address == Embedded || address == "" && !named {
		return o.embedded(lookup), nil
	}
	if file != "" {
		if _, err := os.Stat(file); err != nil { // the SDK takes a missing file for an empty one
			return Config{}, &Error{Kind: KindConfig, Err: fmt.Errorf("configuration file: %w", err), hint: "correct --temporal-config or TEMPORAL_CONFIG_FILE"}
		}
	}
	p, err := envconfig.LoadClientConfigProfile(envconfig.LoadClientConfigProfileOptions{
		ConfigFilePath: file, ConfigFileProfile: o.Profile, EnvLookup: env, ConfigFileStrict: true,
	})
	if err != nil {
		return Config{}, &Error{Kind: KindConfig, Err: withoutContents(err), hint: "check the profile in Temporal's configuration file and the TEMPORAL_* variables"}
	}
	if address != "" {
		p.Address = address
	}
	if o.Namespace != "" {
		p.Namespace = o.Namespace
	}
	return o.cluster(p)
}

// embedded is the configuration of the embedded server.
func (o Options) embedded(lookup func(string) string) Config {
	c := Config{Embedded: true, Namespace: o.Namespace}
	if c.Namespace == "" {
		c.Namespace = o.Server.Namespace
	}
	if c.Namespace == "" {
		c.Namespace = devserver.DefaultNamespace
	}
	for _, name := range []string{"TEMPORAL_NAMESPACE", "TEMPORAL_API_KEY", "TEMPORAL_TLS_CLIENT_CERT_PATH", "TEMPORAL_TLS_CLIENT_CERT_DATA"} {
		if lookup(name) != "" {
			c.Ignored = append(c.Ignored, name+" (no address is set, so the embedded server is used)")
		}
	}
	return c
}

// cluster turns a profile into client options, refusing what cannot be meant.
func (o Options) cluster(p envconfig.ClientConfigProfile) (Config, error) {
	if p.Namespace == "" {
		p.Namespace = client.DefaultNamespace
	}
	c := Config{Address: p.Address, Namespace: p.Namespace, APIKey: p.APIKey != "", TLS: "off"}
	fail := func(hint, format string, args ...any) (Config, error) {
		return Config{}, &Error{Kind: KindConfig, Address: p.Address, Namespace: p.Namespace, Err: fmt.Errorf(format, args...), hint: hint}
	}
	if p.Address == "" {
		return fail("set --temporal-address or TEMPORAL_ADDRESS, or name no profile to use the embedded server", "the profile has no address")
	}
	host, _, err := net.SplitHostPort(p.Address)
	if err != nil || host == "" || strings.Contains(p.Address, "/") {
		return fail("write HOST:PORT, such as temporal.example.org:7233", "address %q is not HOST:PORT", p.Address)
	}
	if p.Codec != nil && p.Codec.Endpoint != "" {
		c.Ignored = append(c.Ignored, "the codec endpoint (histories here hold digests and counts only)")
		p.Codec = nil
	}
	if c.client, err = p.ToClientOptions(envconfig.ToClientOptionsRequest{}); err != nil {
		return fail("correct the certificate, key and CA settings (TEMPORAL_TLS_*)", "%w", err)
	}
	if t := c.client.ConnectionOptions.TLS; t != nil {
		c.TLS = "on"
		if len(t.Certificates) > 0 {
			c.TLS = "on, client certificate"
		}
		if t.InsecureSkipVerify {
			c.TLS += ", server not verified"
		}
	}
	if c.APIKey && c.client.ConnectionOptions.TLS == nil && !isLoopback(host) {
		return fail("enable TLS (TEMPORAL_TLS=true), or unset TEMPORAL_API_KEY", "an API key would be sent in clear text")
	}
	return c, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

var lineNumber = regexp.MustCompile(`line \d+`)

// withoutContents keeps errors about a configuration file from quoting it, as it may hold
// credentials.
func withoutContents(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path
	}
	if at := lineNumber.FindString(err.Error()); at != "" {
		return fmt.Errorf("the configuration file is not valid near %s", at)
	}
	if strings.Contains(err.Error(), "profile") {
		return err // names the profile only
	}
	return errors.New("the configuration file is not valid (unknown keys or wrong types)")
}
