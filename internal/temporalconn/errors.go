package temporalconn

import "fmt"

// Kind says what stands between this program and a usable namespace.
type Kind uint8

// The kinds of Error.
const (
	KindConfig           Kind = iota + 1 // the settings contradict each other or cannot be read
	KindUnreachable                      // nothing answers at the address
	KindTLS                              // the two sides do not agree on TLS
	KindRefused                          // the credentials are not accepted
	KindNamespace                        // the namespace does not exist
	KindSearchAttributes                 // the namespace lacks search attributes
	KindEmbedded                         // the embedded server did not come up
)

var kindNames = map[Kind]string{
	KindConfig: "config", KindUnreachable: "unreachable", KindTLS: "tls", KindRefused: "refused",
	KindNamespace: "namespace", KindSearchAttributes: "search_attributes", KindEmbedded: "embedded",
}

// String is the stable name of the kind.
func (k Kind) String() string {
	if s, ok := kindNames[k]; ok {
		return s
	}
	return fmt.Sprintf("Kind(%d)", k)
}

// Error says why there is no connection. KindConfig is a usage error; every other kind
// means that Temporal cannot be used now.
type Error struct {
	Kind      Kind
	Address   string // empty when none is configured
	Namespace string
	Err       error
	hint      string
}

// Error names address and namespace.
func (e *Error) Error() string {
	switch {
	case e.Address == "" && e.Kind == KindConfig:
		return fmt.Sprintf("temporal settings: %v", e.Err)
	case e.Address == "":
		return e.Err.Error()
	}
	return fmt.Sprintf("temporal at %s, namespace %s: %v", e.Address, e.Namespace, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Hint names the way out; empty when there is nothing to add.
func (e *Error) Hint() string { return e.hint }
