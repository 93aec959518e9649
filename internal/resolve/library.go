package resolve

import (
	"context"
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"regexp"
)

// resolveLibrary is ONNXRuntime over the tables of pins.go.
func resolveLibrary(ctx context.Context, o Options) (Library, error) {
	say := o.say("onnxruntime")
	if path := o.configured("CXREPRO_ONNXRUNTIME"); path != "" {
		return configuredLibrary(path, say)
	}
	dir, err := o.cacheDir()
	if err != nil {
		return Library{}, err
	}
	var ways []way
	if w, ok := o.pinned().library[platform()]; ok {
		ways = append(ways, fileOfWheel(w, filepath.Join(dir, "onnxruntime-"+w.version+"-pypi", filepath.Base(w.member)), dir, say))
	}
	if t, ok := o.pinned().libraryNPM[platform()]; ok {
		at := way{path: filepath.Join(dir, "onnxruntime-"+t.version+"-npm", filepath.Base(t.member)), sha256: t.memberSHA256,
			get: func(ctx context.Context, dest string) error { return fromTarball(ctx, t, dir, dest, say) }}
		ways = append(ways, at.byTarball(t))
	}
	got, attempts, err := firstThatWorks(ctx, dir, ways, o, say)
	if err != nil {
		return Library{}, err
	}
	if got.path == "" {
		return Library{}, &UnavailableError{What: "ONNX Runtime", Attempts: attempts, Ways: libraryWays}
	}
	return Library{Path: got.path, Version: ONNXRuntimeVersion, Source: got.source}, nil
}

var libraryWays = []string{
	"set CXREPRO_ONNXRUNTIME (or --onnxruntime) to a libonnxruntime of version " + ONNXRuntimeVersion + " or later that is on this machine",
	"let pip reach PyPI (install pip where it is missing; Debian: python3-pip) for the wheel onnxruntime " + ONNXRuntimeVersion,
	"let npm reach its registry (install npm where it is missing) for the package " + nodePackage + " " + ONNXRuntimeVersion + "; then run the same command again",
}

// configuredLibrary takes the user's word for the path; whether the library is young
// enough is checked by the package that loads it.
func configuredLibrary(path string, say func(string, ...any)) (Library, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return Library{}, &ConfiguredError{What: "ONNX Runtime library", Path: path, Why: err}
	}
	fi, err := os.Stat(abs)
	if err == nil && !fi.Mode().IsRegular() {
		err = errors.New("is not a file; hint: name the library itself, libonnxruntime.so.VERSION")
	}
	if err != nil {
		return Library{}, &ConfiguredError{What: "ONNX Runtime library", Path: path, Why: err}
	}
	version := libraryVersion(abs)
	say("using the configured library %s", describe(abs, version))
	return Library{Path: abs, Version: version, Source: SourceConfigured}, nil
}

func describe(path, version string) string {
	if version == "" {
		return path + " (version not told by the file)"
	}
	return path + " (" + version + ")"
}

var reVersionNode = regexp.MustCompile(`^VERS_(\d+\.\d+\.\d+)$`)
var reVersionName = regexp.MustCompile(`(\d+\.\d+\.\d+)`)

// libraryVersion reads the version from the library's symbol version (ELF), else from
// its file name; empty if neither tells.
func libraryVersion(path string) string {
	if f, err := elf.Open(path); err == nil {
		defer f.Close()
		if versions, err := f.DynamicVersions(); err == nil {
			for _, v := range versions {
				if m := reVersionNode.FindStringSubmatch(v.Name); m != nil {
					return m[1]
				}
			}
		}
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if m := reVersionName.FindString(filepath.Base(path)); m != "" {
		return m
	}
	return ""
}
