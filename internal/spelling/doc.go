// Package spelling finds the names that are most like a text, for messages that say what a
// mistyped name may have meant.
//
//	spelling.Nearest("cardiomegaly.label.PA", names, 3)
package spelling
