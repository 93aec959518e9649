// Package inprocess runs the evaluations of package evaltest to their end within a test: real
// workflows in the SDK's test environment, real activities, and models that answer over a real
// connection.
package inprocess
