// Package answer reads a reply to a multiple-choice question against the question's real
// options and returns a closed outcome.
//
// Terms. An option has a letter, a text and a meaning: a choice, "I don't know", "none of the
// above", "need new options". A question may ask for one option or for a set; a set has no
// order. An Outcome's zero value is invalid, and only four kinds can be scored; the others say
// why there is nothing to score.
//
// How a reply is read: what the model marks as its final answer counts before "the answer is",
// that before a reply that begins with an option, that before a last line that is one. Within
// each, options are taken from the front, letter and text together, and whatever explains them
// is left alone. Of several marked answers the last that can be read counts. A letter counts
// only where it stands as an option: never inside a word, a formula or a sentence. Nothing is
// guessed: an option whose letter and text disagree, or a letter that the question does not
// have, leaves the reply unparsable.
//
// The package refuses to turn a failure of the endpoint into an outcome by itself: a text such
// as an error message has no option in it and is unparsable, but who sent it must be known by
// the caller.
//
//	q := answer.Question{Options: []answer.Option{{Letter: "a", Text: "Yes"}, {Letter: "b", Text: "No"}}}
//	o := answer.Parse(q, "FINAL ANSWER: (b) No. Option (a) would need a ratio above 0.5.")
//	// o.Kind == answer.Chosen, o.Letters == []string{"b"}
package answer
