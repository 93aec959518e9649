// Package localhost is the machine that a repository runs on: its clock, its files, and
// the question whether a process is still alive. It implements [artifacts.Host].
//
// A process is named by (process table, number, start time). The process table is named
// by machine name, boot and process namespace, so that two containers with the same
// machine name are never taken for one another.
package localhost
