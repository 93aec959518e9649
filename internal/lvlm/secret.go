package lvlm

import "fmt"

// Secret holds a credential. However it is printed, logged or encoded, it shows as ***; only
// Reveal gives it away.
type Secret struct{ value string }

const hidden = "***"

// NewSecret hides a credential.
func NewSecret(value string) Secret { return Secret{value: value} }

// Reveal returns the credential, for the one place that sends it.
func (s Secret) Reveal() string { return s.value }

// IsZero reports whether there is none.
func (s Secret) IsZero() bool { return s.value == "" }

// String returns ***.
func (s Secret) String() string { return hidden }

// GoString returns ***.
func (s Secret) GoString() string { return hidden }

// Format writes *** whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, hidden) }

// MarshalText encodes ***: encoders and structured logs use it.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }
