// Package ledger keeps what model calls took and gave. The ledger is the object store: an
// answer is a blob, and the index entry of its call carries a statement of how it came to be.
//
// A call that gave an answer has a record under its key. One that ended without an answer, after
// the repetitions that its model card allows, has a record under the key of its outcome, of which
// there is one for each round of asking; see [Find]. Failures of an endpoint are no records. They
// are attempts, kept in the claim of the key while the call goes on and in the statement of the
// record that ends it: whoever takes a claim over inherits them, so that sums over statements
// hold every request that was sent, by whatever process.
//
// A request whose end nobody saw, because the process was killed or the connection broke, is
// counted as maybe billed.
//
// A [Wallet] takes portions out of a durable budget before they are spent. A [Lease] makes one
// process at a time use an endpoint.
package ledger
