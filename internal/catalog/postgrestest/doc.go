// Package postgrestest starts a real PostgreSQL server for tests: an installation of this
// machine, or one that is fetched into the cache folder (package resolve). The server listens
// on a socket in a folder of its own and nowhere else, and ends with the test.
//
// The server refuses to run as root. A test of root starts it as the user "nobody".
package postgrestest
