// Package bench reads the three benchmarks of the X-Ragent paper in the form in which they are
// published, makes synthetic ones of the same form and size, and reads replies as answers.
//
// Terms: a benchmark is a list of items ([xragent.Item]) with an ID "<benchmark>/<question>";
// a column is a figure that scores print for it ([Benchmark.Columns]); a scorer turns a reply into
// an answer or says that there is none, and has a name and a version.
//
// An import either gives every question of the files or an [ImportError] that lists all problems,
// each with a code out of a closed set. Nothing is skipped, trimmed or guessed. With counts "any" the
// totals are reported instead of checked; everything else is checked as ever.
//
// The package opens no file by itself: it reads an fs.FS and writes to a [Writer]. Fixtures draw from
// named streams, so the same seed gives the same bytes.
//
//	set, err := bench.Import(bench.ChestAgentBench, os.DirFS(root), bench.Options{})
//	read := bench.Strict.Score(item.Question, reply, bench.Cascade)
package bench
