// Package artifacts keeps results by the digest of their bytes and remembers which
// step key produced which result.
//
// Terms:
//
//   - A blob is bytes named by their SHA-256. It is an immutable fact.
//   - A [Ref] is a blob's digest, size and media type. Refs travel through workflow
//     histories; bytes do not.
//   - A [KeyDoc] says what a step's result depends on: step name, step version, every
//     parameter that matters, digests of inputs. Its digest is the step's [Key].
//   - An index entry is a claim "this key gave this result", written once. A second,
//     different result for the same key is a recorded conflict, never an overwrite.
//   - A statement says how a result came to be (see package provenance). It holds the
//     key document, so that two keys can be compared field by field later.
//   - A claim is the right to compute one key now. It expires, it can be taken over,
//     and its fence counts the executions of the key.
//   - A [Bucket] is the small set of object operations that a backend offers. A
//     [Repository] builds everything above out of one bucket.
//
// The order of a step: [Repository.Lookup], [Repository.Claim], compute,
// [Repository.Put], [Repository.PutStatement], [Repository.Commit],
// [Repository.Release]. A process killed anywhere in between leaves either nothing
// visible or a complete record.
//
// The package refuses to trust an ETag, a modification time or a name as identity, to
// overwrite a record, and to hand out bytes whose digest is wrong.
package artifacts
