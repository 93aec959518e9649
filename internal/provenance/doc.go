// Package provenance says how a result came to be, as in-toto statements: subject (the
// result), materials (what went in), the key document (what the result depends on), the
// invocation (who computed it, when, in which attempt), code and environment.
//
// The key document is stored byte for byte as its key hashes it, so a reader can check
// that a statement belongs to a key, and two statements can be compared field by field
// ([Compare]) to say why one step was computed again.
//
// The package is pure: times and machine facts are passed in. It never holds patient
// data, pixels, prompts or replies: only digests, names and parameters.
package provenance
