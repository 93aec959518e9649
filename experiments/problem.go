package experiments

import "cxrepro/internal/strictyaml"

// Problem is one thing wrong with a spec: where it stands, and what to do about it.
type Problem = strictyaml.Problem

// SpecError reports everything wrong with a spec or a card at once.
type SpecError = strictyaml.Error
