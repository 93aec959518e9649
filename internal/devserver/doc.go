// Package devserver runs the embedded Temporal server of one state directory.
//
// # Who is who
//
// The owner is the process that called Start first and holds the owner lock. It starts
// the supervisor: the same executable again, in a session of its own, reading a pipe
// whose other end only the owner holds. The supervisor starts the server (the Temporal
// command with its development server on a SQLite file) and ends it as soon as the pipe
// closes, so that the server never outlives its owner, however the owner ended. A joiner
// is any later process on the same state directory: it uses the owner's server, and takes
// over when the owner ends.
//
// # What holds when something is killed
//
//   - server: the supervisor ends, the owner starts both again on the same ports;
//   - supervisor: the kernel ends the server with it (Linux), the owner starts both again;
//   - owner: the supervisor kills the server; a joiner takes over, or the next Start does;
//   - any of them together: the next Start waits for the server lock, which the kernel
//     releases when supervisor and server are both gone; if it stays held, the group named
//     in lock.json is killed first. Two servers never have one file open.
//
// The database file is in WAL mode with synchronous=NORMAL: what Temporal acknowledged
// survives a killed process. Temporal's data are not the truth of a reproduction, the
// artifact store is: a file that is damaged or belongs to another server version is left
// or moved aside, and a fresh one is begun.
//
// # Files
//
//	<state>/temporal/owner.lock        flock of the owner
//	<state>/temporal/server.lock       flock inherited by supervisor and server
//	<state>/temporal/lock.json         who they are, since when, on which ports
//	<state>/temporal/temporal-V.db     database of server version V (with -wal, -shm)
//	<state>/log/temporal.log           the server's output (bounded; temporal.log.1 before it)
//
// Every port is on 127.0.0.1. The package runs on Linux and macOS.
//
// main, and TestMain of a test that starts a server, call Trampoline before anything else.
package devserver
