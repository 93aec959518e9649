// Package compare lays two reproductions side by side: what was asked for, what went in, which
// code and machines worked, what came out in every cell and every case, and the first step where
// they part.
//
// Items are paired by what they are about: images by digest, cases by task and identifier,
// evaluations by model and sampling, replies by question and draw. A case is printed as its
// number. Tests are paired, over the cases that both sides have.
//
// The package reads documents through the functions of a [Source] and makes no call to a model.
//
//	d, err := compare.Compare(ctx, a, b, compare.Options{Flips: 5})
//	err = d.WriteText(os.Stdout)
package compare
