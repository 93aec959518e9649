package radcot

// Code is a reason, of a source's record to stay out of the pool or of a reply to be rejected.
// The codes are a closed set and stable.
type Code string

// Why a record is no candidate.
const (
	LeftView          Code = "view_not_pa"
	LeftNoPicture     Code = "picture_missing"
	LeftNoFindings    Code = "findings_missing"
	LeftShortFindings Code = "findings_short"
	LeftPointer       Code = "findings_pointer"
	LeftTags          Code = "findings_hold_tags"
	LeftNoLabels      Code = "labels_missing"
	LeftSameStudy     Code = "same_study"
	LeftNotChest      Code = "not_closed_chest"
	LeftNotBinary     Code = "not_yes_or_no"
	LeftHistory       Code = "needs_history"
	LeftRepeated      Code = "repeated_question"
	LeftSlakeEval     Code = "excluded_slake_evaluation"
	LeftOpenI         Code = "excluded_openi_picture"
	LeftSibling       Code = "excluded_openi_sibling"
	LeftEurorad       Code = "excluded_eurorad"
	LeftDigest        Code = "excluded_same_file"
)

// LeftCodes lists every code of a record.
func LeftCodes() []Code {
	return []Code{LeftView, LeftNoPicture, LeftNoFindings, LeftShortFindings, LeftPointer, LeftTags, LeftNoLabels, LeftSameStudy, LeftNotChest,
		LeftNotBinary, LeftHistory, LeftRepeated, LeftSlakeEval, LeftOpenI, LeftSibling, LeftEurorad, LeftDigest}
}

// Why a reply is rejected.
const (
	NoReply           Code = "no_reply" // refused, blocked or empty
	Truncated         Code = "truncated"
	MalformedMissing  Code = "malformed_missing"
	MalformedRepeated Code = "malformed_repeated"
	MalformedEmpty    Code = "malformed_empty"
	MalformedOrder    Code = "malformed_order"
	MalformedStray    Code = "malformed_stray"  // text or tags outside the segments
	MalformedNested   Code = "malformed_nested" // a tag inside a block, or one that is not closed
	TooShort          Code = "too_short"
	TooLong           Code = "too_long"
	TooSimilar        Code = "too_similar"
	LeakPrompt        Code = "leak_prompt"
	LeakIdentifier    Code = "leak_identifier"
	LeakReport        Code = "leak_report"
	LeakPrior         Code = "leak_prior"
	ControlToken      Code = "control_token" // what a chat template or a trainer reads as its own
	QuestionJSON      Code = "question_json"
	QuestionFields    Code = "question_fields"
	QuestionOptions   Code = "question_options"
	QuestionCue       Code = "question_cue"
	OverBudget        Code = "over_budget"
	SchemaInvalid     Code = "schema_invalid"
	MalformedTurn1    Code = "malformed_turn1"
	MalformedTurn2    Code = "malformed_turn2"
	AnswerMismatch    Code = "answer_mismatch"
	Misquoted         Code = "observation_misquoted"
)

// Codes lists every code of a reply, in the order in which a verdict names them.
func Codes() []Code {
	return []Code{NoReply, Truncated, MalformedMissing, MalformedRepeated, MalformedEmpty, MalformedOrder, MalformedStray, MalformedNested,
		TooShort, TooLong, TooSimilar, LeakPrompt, LeakIdentifier, LeakReport, LeakPrior, ControlToken,
		QuestionJSON, QuestionFields, QuestionOptions, QuestionCue, OverBudget, SchemaInvalid, MalformedTurn1, MalformedTurn2, AnswerMismatch, Misquoted}
}
