package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"cxrepro/internal/cxr"
	"cxrepro/internal/dataset"
	"cxrepro/internal/datause"
)

func newDatasetCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "dataset",
		Short: "Lay pictures out as a data set, or look a data set over",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newDatasetLayoutCommand(a), newDatasetCheckCommand(a))
	return c
}

// layoutFlags are the flags of `dataset layout`.
type layoutFlags struct {
	out, view, name, use, attribution, split string
	quality                                  int
}

func newDatasetLayoutCommand(a *app) *cobra.Command {
	var f layoutFlags
	c := &cobra.Command{
		Use:   "layout IMAGE... --out DIR --view PA",
		Short: "Lay any radiographs out as MIMIC-CXR-JPG",
		Long: `Writes a folder in the layout of MIMIC-CXR-JPG: the pictures under files/, the metadata
and split tables, SHA256SUMS.txt, a declaration of the data-use class
(cxrepro-dataset.json) and a record of what was done to each picture
(cxrepro-layout.json). A JPEG keeps its bytes; a PNG of 8 or 16 bits becomes a
one-component JPEG of quality 95 or better, and the record says by how many grey levels
the coding changed it. The same pictures in the same order give the same folder.

The data-use class is synthetic, public, public_attribution or credentialed; without
--data-use it is credentialed, the strictest.

With --json the record is printed. Exit codes: 0 ok; 1 failed; 2 usage; 3 done, some
pictures refused.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.layOut(f, args) },
	}
	fl := c.Flags()
	fl.StringVar(&f.out, "out", "", "folder to write (new or empty)")
	fl.StringVar(&f.view, "view", "", "view position of the pictures: PA, AP or LATERAL")
	fl.StringVar(&f.name, "name", "radiographs", "name of the data set")
	fl.StringVar(&f.use, "data-use", "", "data-use class: synthetic, public, public_attribution, credentialed (default: that of a known --name, or credentialed)")
	fl.StringVar(&f.attribution, "attribution", "", "source to be named")
	fl.StringVar(&f.split, "split", "train", "split of the pictures: train, validate or test")
	fl.IntVar(&f.quality, "quality", 95, "quality of pictures that become JPEG, 95 to 100")
	return c
}

// options turns the flags into layout options.
func (f *layoutFlags) options() (dataset.LayoutOptions, cxr.ViewPosition, error) {
	o := dataset.LayoutOptions{Name: f.name, Attribution: f.attribution, Quality: f.quality}
	fail := func(hint string, err error) (dataset.LayoutOptions, cxr.ViewPosition, error) {
		return o, 0, usageError(hint, "dataset layout: %v", err)
	}
	if f.out == "" {
		return fail("name a folder with --out DIR", errors.New("no output folder"))
	}
	var view cxr.ViewPosition
	if err := view.UnmarshalText([]byte(f.view)); err != nil || view == cxr.ViewOther {
		return fail("give --view PA, AP or LATERAL; pictures of several views are laid out into several folders", fmt.Errorf("view %q", f.view))
	}
	var err error
	if o.Split, err = dataset.ParseSplit(f.split); err != nil {
		return fail("give --split train, validate or test", err)
	}
	o.DataUse = datause.Credentialed
	if k := dataset.ByName(f.name); k != 0 {
		o.DataUse = k.DataUse()
	}
	if f.use != "" {
		if o.DataUse, err = datause.Parse(f.use); err != nil {
			return fail("give --data-use one of these", err)
		}
	}
	if o.Quality < 95 || o.Quality > 100 {
		return fail("give --quality 95 to 100", fmt.Errorf("quality %d", o.Quality))
	}
	return o, view, nil
}

func (a *app) layOut(f layoutFlags, images []string) error {
	o, view, err := f.options()
	if err != nil {
		return err
	}
	if err := newFolder(f.out); err != nil {
		return err
	}
	report, err := dataset.LayOut(diskFolder(f.out), readPictures(images, view), o)
	for _, r := range report.Refused {
		fmt.Fprintf(a.err, "dataset layout: refused %s: %s: %s\n", r.Name, r.Outcome, r.Detail)
	}
	var lowered *dataset.LoweredError
	switch {
	case errors.As(err, &lowered):
		return usageError("leave --data-use out, or give the pictures another --name", "dataset layout: %v", err)
	case err != nil:
		return fmt.Errorf("dataset layout: %w", err)
	}
	if a.JSON() {
		err = json.NewEncoder(a.out).Encode(report)
	} else {
		err = printLayout(a.out, f.out, o, report)
	}
	if err != nil {
		return err
	}
	if n := len(report.Refused); n > 0 {
		return &exitError{Code: exitQuarantined, Err: fmt.Errorf("dataset layout: %d of %d pictures were refused", n, n+len(report.Pictures)),
			Hint: "the folder holds the others and is complete"}
	}
	return nil
}

func printLayout(w io.Writer, out string, o dataset.LayoutOptions, report dataset.LayoutReport) error {
	for _, p := range report.Pictures {
		how := "bytes kept"
		if p.Conversion == dataset.GreyJPEG {
			how = fmt.Sprintf("grey JPEG of quality %d, largest difference %d grey levels", p.Quality, p.MaxDifference)
		}
		if _, err := fmt.Fprintf(w, "case %d  %s  %d x %d  %s\n", p.Case, p.Name, p.Width, p.Height, how); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%s: %d pictures, data use %s; look it over with `cxrepro dataset check %s`\n", out, len(report.Pictures), o.DataUse, out)
	return err
}

// newFolder refuses a folder that holds something already.
func newFolder(path string) error {
	entries, err := os.ReadDir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("dataset layout: %w", err)
	case len(entries) > 0:
		return usageError("give a new folder, or empty this one yourself", "dataset layout: %s is not empty", path)
	}
	return nil
}

// readPictures reads the files one after another.
func readPictures(paths []string, view cxr.ViewPosition) iter.Seq2[dataset.Picture, error] {
	return func(yield func(dataset.Picture, error) bool) {
		for _, p := range paths {
			data, err := os.ReadFile(p)
			if !yield(dataset.Picture{Name: filepath.Base(p), Data: data, View: view}, err) {
				return
			}
		}
	}
}

// diskFolder is a folder that gets new files.
type diskFolder string

// Create makes a file that does not exist yet, and the folders on the way.
func (d diskFolder) Create(name string) (io.WriteCloser, error) {
	path := filepath.Join(string(d), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}

var _ dataset.LayoutWriter = diskFolder("")
