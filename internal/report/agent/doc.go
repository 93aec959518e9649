// Package agent makes the tables of an agent's reproduction: how often each policy was right
// under each arm, what its tools and the gate did, and what the rollouts were rewarded with.
//
// Repeats of one policy under one arm make one row: counts are over all of them, the mean is
// that of the repeats, and the spread between the best and the worst repeat is the noise floor
// that any difference stands against. With one repeat there is none, and the table says so.
//
// Tables are values of package report; the paper's own tables, for questions of its benchmarks,
// come from internal/xragent/tables.
package agent
