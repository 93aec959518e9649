package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cxrepro/artifacts"
	"cxrepro/internal/checkpoint"
	"cxrepro/internal/contract"
	"cxrepro/internal/datause"
)

// checkpointFlags say where a checkpoint comes from.
type checkpointFlags struct {
	name, base, baseWeights, parent string
	trainer, recipe                 string
	examples, dataUse               string
	step                            int
}

func newCheckpointsAddCommand(a *app) *cobra.Command {
	var f checkpointFlags
	c := &cobra.Command{
		Use:   "add FILE|FOLDER... --name NAME --base MODEL --trainer NAME[@VERSION] --recipe FILE --examples FILE",
		Short: "Record a checkpoint from its files and what it was trained on",
		Long: `add records a checkpoint that was trained elsewhere: its weights by the digests of the files that
hold them (of a folder all its files, by their paths), and what it was trained on. The files
themselves are not taken into the store; the recipe is.

--examples is a file with a JSON object a line, one for each example in the order in which they
were read: "images" names the images that it descends from by digest ("sha256:..."), "example" the
digest of the example, that of the line where it is left out. Other fields are the trainer's, and
are not kept. Images are looked up in the recorded data sets (` + "`cxrepro datasets add`" + `), which know
their perceptual hash, study and patient; of others only the digest can be compared.

With --json: {"name","weights","record":{...},"training":{...},"files","examples","images","unlisted"}.

Exit codes: 0 recorded; 2 usage; 3 recorded, some images are in no recorded data set; 6 store
unreachable.`,
		Example: `  cxrepro checkpoints add model.safetensors --name policy-500 --base 'Qwen2.5-VL-7B-Instruct' --step 500 \
      --trainer verl@0.4 --recipe train.yaml --examples examples.jsonl`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.addCheckpoint(c.Context(), args, f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.name, "name", "", "what people call it")
	fl.StringVar(&f.base, "base", "", "the published model that the lineage begins with")
	fl.StringVar(&f.baseWeights, "base-weights", "", "sha256:... of that model's weights, where they are known")
	fl.StringVar(&f.parent, "parent", "", "the checkpoint that this training began with: name or weights digest")
	fl.StringVar(&f.trainer, "trainer", "", "NAME[@VERSION] of the program that trained it")
	fl.StringVar(&f.recipe, "recipe", "", "FILE with everything that the training was told")
	fl.StringVar(&f.examples, "examples", "", "FILE with what it was trained on, a JSON object a line")
	fl.StringVar(&f.dataUse, "data-use", "", "class of the images, where no recorded data set says it or a stricter one holds ("+classNames()+")")
	fl.IntVar(&f.step, "step", 0, "the optimizer's step at which the weights were written")
	return c
}

func classNames() string {
	var names []string
	for _, c := range datause.Classes() {
		names = append(names, c.String())
	}
	return strings.Join(names, ", ")
}

func (a *app) addCheckpoint(ctx context.Context, paths []string, f checkpointFlags) error {
	c, examples, err := f.read(paths)
	if err != nil {
		return err
	}
	recipe, err := os.ReadFile(f.recipe)
	if err != nil {
		return usageError("--recipe names the file", "%v", err)
	}
	store, err := a.writeStore(ctx)
	if err != nil {
		return err
	}
	if c.Parent, err = f.parentIn(ctx, store); err != nil {
		return err
	}
	r := a.recorder(store)
	trained, err := r.PutTrained(ctx, f.name, f.dataUse, examples)
	if errors.Is(err, checkpoint.ErrDataUse) {
		return usageError("--data-use is one of "+classNames(), "%v", err)
	}
	if err != nil {
		return artifactsError(err)
	}
	mediaType := "text/plain"
	if strings.HasSuffix(f.recipe, ".json") {
		mediaType = "application/json"
	}
	if c.Recipe, err = store.ForClass(datause.StoreClass(trained.DataUse)).Put(ctx, recipe, mediaType); err != nil {
		return artifactsError(err)
	}
	c.Training = trained.Set
	ref, err := r.PutCheckpoint(ctx, c)
	if err != nil {
		return artifactsError(err)
	}
	return a.showAdded(c, ref, trained)
}

// read checks the flags, and reads files and examples.
func (f *checkpointFlags) read(paths []string) (c contract.Checkpoint, examples []contract.TrainingExample, err error) {
	for _, x := range []struct{ flag, value string }{{"name", f.name}, {"base", f.base}, {"trainer", f.trainer}, {"recipe", f.recipe}, {"examples", f.examples}} {
		if x.value == "" {
			return c, nil, usageError("a checkpoint without it says nothing of what it was trained on", "--%s is missing", x.flag)
		}
	}
	c = contract.Checkpoint{Name: f.name, Base: f.base, Step: f.step}
	c.Trainer.Name, c.Trainer.Version, _ = strings.Cut(f.trainer, "@")
	if f.baseWeights != "" {
		if c.BaseWeights, err = artifacts.ParseDigest(f.baseWeights); err != nil {
			return c, nil, usageError("give the whole digest, sha256:<64 digits>", "--base-weights: %v", err)
		}
	}
	if c.Files, err = checkpointFiles(paths); err != nil {
		return c, nil, err
	}
	if c.Weights, err = contract.WeightsDigest(c.Files); err != nil {
		return c, nil, err
	}
	file, err := os.Open(f.examples)
	if err != nil {
		return c, nil, usageError("--examples names the file", "%v", err)
	}
	defer file.Close()
	if examples, err = checkpoint.ReadExamples(file); err != nil {
		return c, nil, usageError("each line is an object with \"images\": [\"sha256:...\"]", "%s: %v", f.examples, err)
	}
	if len(examples) == 0 {
		return c, nil, usageError("each line is an object with \"images\": [\"sha256:...\"]", "%s holds no example", f.examples)
	}
	return c, examples, nil
}

// parentIn finds the weights that the training began with: a recorded checkpoint, or a digest.
func (f *checkpointFlags) parentIn(ctx context.Context, store *artifacts.Repository) (artifacts.Digest, error) {
	if f.parent == "" {
		return artifacts.Digest{}, nil
	}
	if d, err := artifacts.ParseDigest(f.parent); err == nil {
		return d, nil
	}
	list, err := checkpoint.Checkpoints(ctx, store)
	if err != nil {
		return artifacts.Digest{}, artifactsError(err)
	}
	return chooseCheckpoint(list, f.parent)
}

// checkpointFiles hashes files under their base names, and those of folders under their paths
// there.
func checkpointFiles(paths []string) (out []contract.CheckpointFile, err error) {
	seen := map[string]bool{}
	add := func(path, name string) error {
		if seen[name] {
			return usageError("put them into one folder and name that", "two files are called %s", name)
		}
		seen[name] = true
		one, err := hashed(path, name)
		out = append(out, one)
		return err
	}
	for _, root := range paths {
		info, err := os.Stat(root)
		if err != nil {
			return nil, usageError("name the files that hold the weights", "%v", err)
		}
		if !info.IsDir() {
			if err := add(root, filepath.Base(root)); err != nil {
				return nil, err
			}
			continue
		}
		err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			return add(path, filepath.ToSlash(name))
		})
		if err != nil {
			return nil, err
		}
	}
	if len(out) == 0 {
		return nil, usageError("name the files that hold the weights", "there is no file in %s", strings.Join(paths, ", "))
	}
	return out, nil
}

func hashed(path, name string) (contract.CheckpointFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return contract.CheckpointFile{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return contract.CheckpointFile{Name: name, Digest: artifacts.Digest(h.Sum(nil)), Size: n}, err
}

func (a *app) showAdded(c contract.Checkpoint, ref artifacts.Ref, t checkpoint.Trained) error {
	var err error
	if a.JSON() {
		err = a.printJSON(map[string]any{
			"name": c.Name, "weights": c.Weights, "record": ref, "training": t.Set, "files": len(c.Files),
			"examples": t.Examples, "images": t.Images, "unlisted": t.Unlisted,
		})
	} else {
		_, err = fmt.Fprintf(a.out, "%s  %s\n  %d files, %d examples of %d images (%s), record %s\n", c.Weights, c.Name, len(c.Files), t.Examples, t.Images, t.DataUse, ref.Digest.Short())
	}
	if err == nil && t.Unlisted > 0 {
		return &exitError{
			Code: exitQuarantined, Err: fmt.Errorf("%d of %d images are in no recorded data set: only their bytes can be compared", t.Unlisted, t.Images),
			Hint: "record their data set with `cxrepro datasets add RUN --data NAME=PATH`, and add the checkpoint again",
		}
	}
	return err
}
