// Package strictyaml reads configuration files that people write: YAML compared with the Go
// type it is meant for, before anything is decoded.
//
// Every field is stated, unless its tag says omitempty or omitzero; unknown and repeated
// fields, texts where numbers belong and the reverse are errors. All of them are reported at
// once, each with file and line and what would be right. What a value may be beyond its type
// is for the caller, who gets the line of every field for it, and Findings to say what is
// wrong in the same form.
//
//	origin, err := strictyaml.Decode("card.yaml", data, "model card", &card)
//	// card.yaml:7: retries: want a whole number, got the text "two"
package strictyaml
