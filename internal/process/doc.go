// Package process identifies processes of this machine across restarts of the one that
// started them, and holds locks that a child inherits.
//
// A pid alone may be given to another process; a pid with its start time, on a named boot of
// a machine, may not. Files that name a process ([ID], [Machine]) inform; locks decide.
package process
