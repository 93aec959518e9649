package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"cxrepro/artifacts"
	"cxrepro/artifacts/storeurl"
	"cxrepro/internal/cxr"
	"cxrepro/internal/dataset"
	"cxrepro/internal/devserver"
	"cxrepro/internal/onnx"
	"cxrepro/internal/resolve"
	"cxrepro/internal/temporalconn"
)

// outside are the options for outside binaries: fetched only with --install.
func (e *examination) outside(setting string) resolve.Options {
	o := e.a.resolveOptions(setting)
	if !e.install {
		o.PresentOnly, o.Progress = true, nil
	}
	return o
}

// wayWithoutPip says what a machine without pip has to expect, or "".
func wayWithoutPip() string {
	for _, name := range []string{"python3", "pip3", "pip", "python"} {
		if _, err := exec.LookPath(name); err == nil {
			return ""
		}
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return "neither pip nor npm is on PATH: install one of them first"
	}
	return "pip is not on PATH: the library comes from npm, and the server is compiled here once, which takes 3 to 15 minutes"
}

// absent turns a resolver's error into a finding: what would be fetched at the first run
// is no failure.
func (e *examination) absent(what, setting string, err error) finding {
	var none *resolve.UnavailableError
	if errors.As(err, &none) && !e.install {
		hint := "`cxrepro doctor --install` gets it now; otherwise the first run does"
		if way := wayWithoutPip(); way != "" {
			hint += "; " + way
		}
		return warn(hint, "%s is not here yet", what)
	}
	var configured *resolve.ConfiguredError
	if errors.As(err, &configured) {
		return fail("correct or unset "+setting+": a configured file is never replaced by another", "%v", err)
	}
	return fail("", "%v", err)
}

func (e *examination) temporalCommand(ctx context.Context) finding {
	if c, err := e.a.temporalOptions(nil).Resolve(); err == nil && !c.Embedded && !e.install {
		return ok("not needed: a cluster is configured")
	}
	b, err := resolve.Temporal(ctx, e.outside("temporal"))
	if err != nil {
		return e.absent("the Temporal command", "--temporal or CXREPRO_TEMPORAL", err)
	}
	e.binary = b.Path
	return ok("%s (%s): %s", b.Version, b.Source, b.Path)
}

func (e *examination) onnxRuntime(ctx context.Context) finding {
	l, err := resolve.ONNXRuntime(ctx, e.outside("onnxruntime"))
	if err != nil {
		return e.absent("the ONNX Runtime library", "CXREPRO_ONNXRUNTIME", err)
	}
	version, err := onnx.CheckLibrary(l.Path)
	if err != nil {
		return fail("unset CXREPRO_ONNXRUNTIME to have the right one fetched", "%v", err)
	}
	return ok("%s (%s), program needs 1.%d or later: %s", version, l.Source, onnx.APIVersion, l.Path)
}

// store probes what the artifact store promises. A folder store that does not exist yet is
// probed in the scratch folder, on the same file system.
func (e *examination) store(ctx context.Context) finding {
	address := e.a.storeAddress()
	where := ""
	if path, isFolder := folderOf(address); isFolder {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			if e.scratch == "" {
				return fail("", "not checked: the state directory cannot be used")
			}
			address, where = filepath.Join(e.scratch, "store"), " (will be made; probed beside it)"
		}
	}
	r, err := storeurl.Probe(ctx, address, storeurl.Options{}, artifacts.ProbeOptions{})
	if err != nil {
		return storeFailure(err)
	}
	var broken []string
	kept := 0
	for _, c := range r.Checks {
		switch c.Verdict {
		case artifacts.VerdictKept:
			kept++
		case artifacts.VerdictBroken:
			broken = append(broken, c.Name)
		}
	}
	detail := fmt.Sprintf("%s%s: %d of %d promises kept", e.a.storeAddress(), where, kept, len(r.Checks))
	if len(broken) > 0 {
		return warn("it is used with these fallbacks: "+strings.Join(r.Fallbacks, "; "), "%s, broken: %s", detail, strings.Join(broken, ", "))
	}
	return ok("%s", detail)
}

// folderOf returns the path of a folder store's address.
func folderOf(address string) (string, bool) {
	if path, found := strings.CutPrefix(address, "file://"); found {
		return path, true
	}
	return address, !strings.Contains(address, "://")
}

func storeFailure(err error) finding {
	f := fail("", "%v", err)
	var hinted interface{ Hint() string }
	var be *artifacts.BucketError
	switch {
	case errors.As(err, &hinted):
		f.Hint = hinted.Hint()
	case errors.As(err, &be):
		f.Hint = be.Hint
	}
	f.unreachable = true
	return f
}

// temporal reaches the configured cluster, joins the embedded server that runs, or starts
// one for a moment in the scratch folder.
func (e *examination) temporal(ctx context.Context) finding {
	o := e.a.temporalOptions(nil)
	o.Server.Notify = nil
	c, err := o.Resolve()
	if err != nil {
		return temporalFailure(err)
	}
	where := "reached"
	if c.Embedded {
		status, err := devserver.Inspect(e.a.StateDir())
		switch {
		case err == nil && status.Running:
			o.Server.JoinOnly, where = true, "running here"
		case e.binary == "":
			return warn("", "not tried without the Temporal command")
		case e.scratch == "":
			return fail("", "not tried: the state directory cannot be used")
		default:
			o.Server.StateDir, where = filepath.Join(e.scratch, "state"), "starts"
			o.Server.NoUI = true
			o.Server.Resolve = func(context.Context) (string, error) { return e.binary, nil }
		}
	}
	began := time.Now()
	conn, err := temporalconn.Open(ctx, o)
	if err != nil {
		return temporalFailure(err)
	}
	took := time.Since(began)
	version := ""
	if conn.Server != nil {
		version = ", server " + conn.Server.Version()
	}
	if err := conn.Close(context.WithoutCancel(ctx)); err != nil {
		return fail("", "%v", err)
	}
	return ok("%s: %s%s (%d ms)", c, where, version, took.Milliseconds())
}

func temporalFailure(err error) finding {
	f := fail("", "%v", err)
	var e *temporalconn.Error
	if errors.As(err, &e) {
		f.Hint, f.unreachable = e.Hint(), e.Kind != temporalconn.KindConfig
	}
	return f
}

// checkData looks at the layout of a data set: its tables, and whether the first picture
// they name is there.
func checkData(ctx context.Context, d dataRoot) finding {
	fsys := openFolder(d.path)
	switch dataset.ByName(d.name) {
	case dataset.ChestImaGenome:
		g, err := dataset.OpenImaGenome(fsys)
		if err != nil {
			return dataFailure(err)
		}
		_ = g.Close()
		return ok("%s: scene graphs found", d.path)
	case dataset.CheXmaskDB:
		name, err := dataset.FindCheXmask(fsys)
		if err != nil {
			return dataFailure(err)
		}
		return ok("%s: %s", d.path, name)
	}
	m, err := dataset.OpenMIMIC(fsys, dataset.MIMICOptions{Selection: dataset.Selection{Views: cxr.Views()}, NoChecksums: true})
	if err != nil {
		return dataFailure(err)
	}
	class, err := dataset.DataUse(fsys, dataset.MIMICCXRJPG, d.name, 0)
	if err != nil {
		return dataFailure(err)
	}
	for row, err := range m.Rows(0, firstRows) {
		if err != nil {
			return dataFailure(err)
		}
		if row.Source.Path == "" {
			continue
		}
		if _, err := fs.Stat(fsys, row.Source.Path); err != nil {
			return warn("check that the pictures lie under files/ as published, beside the tables", "%s: tables found, but not the picture of row %d", d.path, row.Entry.Case)
		}
		return ok("%s: tables and first picture found, data use %s", d.path, class)
	}
	return warn("check the metadata table", "%s: none of the first %d rows names a picture", d.path, firstRows)
}

const firstRows = 100

func dataFailure(err error) finding {
	f := fail("", "%v", err)
	var te *dataset.TableError
	if errors.As(err, &te) {
		f.Hint = te.Hint
	}
	return f
}
