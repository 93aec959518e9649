// Package cxrepro is the root of the platform's module; it holds the import-rule test
// and no code. The command lives in cmd/cxrepro.
package cxrepro
