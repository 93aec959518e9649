// Package evaltest makes small evaluations for tests of what runs them: a benchmark of built
// questions with a radiograph of its own for every case, a plan that asks simulated models, and
// a responder that answers over a real connection. Sources and pictures are made up and show no
// person.
package evaltest
