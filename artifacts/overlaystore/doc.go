// Package overlaystore is a store that reads from another one and keeps what is written to
// itself, in memory: what runs over it leaves no trace in the store below. A planner carries out
// cheap steps this way to learn what they would give.
package overlaystore
