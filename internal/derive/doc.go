// Package derive says what the steps of a plan depend on: from a plan, a data set and what is
// recorded it makes key documents, questions to models, and dialogues as far as answers go. The
// activities that compute and the planner that asks beforehand derive with the same functions,
// so that a plan cannot name another key than the run will use.
//
// Terms. A [Plan] is experiments.Plan with what follows from it alone. A window is a run of
// images that is assessed together. A [Question] is one call to a model with everything its key
// depends on. A [Walker] runs dialogues over recorded answers: the state machine that a workflow
// holds live, fed from the ledger.
//
// It computes nothing that costs, asks nobody, and stores nothing: documents come from the
// caller. Errors that know their type are contract.Failure.
package derive
