package dirstore_test

import "context"

// localContext is for the counting processes, which have no test to take one from.
func localContext() context.Context { return context.Background() }
