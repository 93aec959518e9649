// Package datause says under which conditions data may be used, how conditions combine,
// and whether bytes of a class may go to a place.
//
// A [Class] belongs to a data set and to everything derived from it. Where inputs meet,
// the strictest class wins. A place (an artifact store, a model endpoint) states in an
// [Attestation] what its operator vouches for, with a date. [AllowStore] and
// [AllowEndpoint] compare the two and fail closed: an unset class, an undated or future
// attestation or a missing promise denies.
//
// The package looks at statements only. It cannot know whether an operator keeps them,
// and it opens no connection.
package datause
