package trainer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/strictyaml"
)

// RecipeName is the file of a recipe in its folder.
const RecipeName = "recipe.yaml"

// Counters: what a trainer counts inside its checkpoints.
const (
	CountsSteps   = "step"
	CountsUpdates = "update"
)

// Determinism classes: what a training that was killed and resumed has in common with one
// that was not.
const (
	// BitExact: the same final weights.
	BitExact = "bit_exact"
	// ScheduleExact: the same schedule, final step and items.
	ScheduleExact = "schedule_exact"
)

// Recipe is a recipe.yaml with what lies beside it. Its digest is part of the run identity.
type Recipe struct {
	RecipeFile
	folder string
	digest artifacts.Digest
	layout Layout
}

// RecipeFile says how one trainer is started, where its checkpoints are and where its progress
// shows. It is a file that people write, infra/trainers/<name>/recipe.yaml.
type RecipeFile struct {
	Trainer string `yaml:"trainer"`
	// Version is the release that the options were written for.
	Version     string `yaml:"version"`
	Layout      string `yaml:"layout"`
	Determinism string `yaml:"determinism"`
	// Counter is what the counter in a checkpoint counts, step or update.
	Counter string `yaml:"counter"`
	// Silent says that it writes no events.jsonl.
	Silent bool `yaml:"silent,omitempty"`
	// Checkpoints is the folder that it saves to, below the run's. Progress are patterns of
	// files below it that grow while it trains.
	Checkpoints string   `yaml:"checkpoints"`
	Progress    []string `yaml:"progress"`
	// Keep is how many complete checkpoints stay on the disk once they are in the store, 0
	// for all.
	Keep int `yaml:"keep,omitempty"`
	// Beside are folders next to the recipe's whose programs it uses too.
	Beside []string `yaml:"beside,omitempty"`
	// Commands are the ways to start it by stage.
	Commands map[Stage]Command `yaml:"commands"`
	// Init writes the weights that a training begins with into {checkpoint}, if the trainer makes
	// them: {seed} decides them.
	Init *Command `yaml:"init,omitempty"`
	// Serve starts a server of its checkpoints, if it has one.
	Serve *ServeCommand `yaml:"serve,omitempty"`
	// Environment is added to the child's, by name.
	Environment map[string]string `yaml:"environment,omitempty"`
}

// Command is a command line whose words may hold placeholders such as {run}.
type Command struct {
	Program   []string `yaml:"program"`
	Arguments []string `yaml:"arguments"`
	// Fresh is added for a start from the base, Resume for one from a checkpoint.
	Fresh  []string `yaml:"fresh,omitempty"`
	Resume []string `yaml:"resume,omitempty"`
}

// ServeCommand is the command line of a server of checkpoints, which speaks chat completions and
// lists the digests of what it serves under /v1/models.
type ServeCommand struct {
	Program   []string `yaml:"program"`
	Arguments []string `yaml:"arguments"`
	// Folder is the option that names a folder of checkpoints, repeated for several. Empty for
	// a server that is told {checkpoint} and {weights}.
	Folder string `yaml:"folder,omitempty"`
	// OneAtATime serves a single checkpoint, and is started anew for the next.
	OneAtATime bool `yaml:"one_at_a_time,omitempty"`
}

// LoadRecipe reads the recipe of a folder.
func LoadRecipe(folder string) (*Recipe, error) {
	path := filepath.Join(folder, RecipeName)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("recipe of a trainer: %w", err)
	}
	var r Recipe
	if _, err := strictyaml.Decode(path, data, "recipe of a trainer", &r.RecipeFile); err != nil {
		return nil, err
	}
	if r.folder, err = filepath.Abs(folder); err != nil {
		return nil, err
	}
	if r.digest, err = r.digestFolders(); err != nil {
		return nil, err
	}
	return &r, r.check(path)
}

// digestFolders is over the recipe and the programs that it uses: every file but documents and
// tests.
func (r *Recipe) digestFolders() (artifacts.Digest, error) {
	var list []File
	for _, beside := range append([]string{"."}, r.Beside...) {
		folder := r.folder
		if beside != "." {
			folder = filepath.Join(r.folder, "..", filepath.Base(beside))
		}
		names, err := files(folder)
		if err != nil {
			return artifacts.Digest{}, err
		}
		for _, name := range names {
			if strings.HasSuffix(name, ".md") || strings.Contains(name, "__pycache__") || strings.HasPrefix(name, "test") {
				continue
			}
			f, err := hashFile(filepath.Join(folder, filepath.FromSlash(name)), beside+"/"+name)
			if err != nil {
				return artifacts.Digest{}, err
			}
			list = append(list, f)
		}
	}
	text, err := artifacts.Canonical(list)
	return artifacts.Sum(text), err
}

// Digest identifies the recipe with the programs beside it.
func (r *Recipe) Digest() artifacts.Digest { return r.digest }

// check reports everything that is wrong with a recipe.
func (r *Recipe) check(path string) error {
	var wrong []error
	say := func(field, format string, args ...any) {
		wrong = append(wrong, fmt.Errorf("%s: %s: %s", path, field, fmt.Sprintf(format, args...)))
	}
	var err error
	if r.layout, err = LayoutOf(r.Layout); err != nil {
		say("layout", "%v", err)
	}
	if r.Counter != CountsSteps && r.Counter != CountsUpdates {
		say("counter", "%q is not step or update", r.Counter)
	}
	if r.Determinism != BitExact && r.Determinism != ScheduleExact {
		say("determinism", "%q is not bit_exact or schedule_exact", r.Determinism)
	}
	if !local(r.Checkpoints) {
		say("checkpoints", "%q leads out of the run's folder", r.Checkpoints)
	}
	if len(r.Progress) == 0 {
		say("progress", "nothing shows that it moves; hint: patterns of files that it writes")
	}
	if len(r.Commands) == 0 {
		say("commands", "neither sft nor grpo")
	}
	for stage, c := range r.Commands {
		if stage != SFT && stage != GRPO {
			say("commands", "stage %q is not sft or grpo", stage)
		}
		if len(c.Program) == 0 {
			say("commands."+string(stage)+".program", "is empty")
		}
	}
	return errors.Join(wrong...)
}

// Target is the counter that a checkpoint of a step must show.
func (r *Recipe) Target(s Spec, step int) int {
	if r.Counter == CountsUpdates {
		return step * s.Updates
	}
	return step
}

// number is what the folder of a step's checkpoint is numbered with.
func (r *Recipe) number(step, updates int) int {
	if r.layout.ByCounter() && r.Counter == CountsUpdates {
		return step * updates
	}
	return step
}

// CheckpointName is the name of the folder of a step's checkpoint, in a run of so many updates a step.
func (r *Recipe) CheckpointName(step, updates int) string {
	return r.layout.Folder(r.number(step, updates))
}

// placeholder is a name in braces.
var placeholder = regexp.MustCompile(`\{[a-z_]+(\.[a-z0-9_]+)?\}`)

// Values fill placeholders.
type Values map[string]string

// fill replaces the placeholders of one word. Errors: one that has no value.
func (v Values) fill(word string) (string, error) {
	var missing []string
	out := placeholder.ReplaceAllStringFunc(word, func(p string) string {
		value, ok := v[p[1:len(p)-1]]
		if !ok {
			missing = append(missing, p)
		}
		return value
	})
	if len(missing) > 0 {
		known := make([]string, 0, len(v))
		for name := range v {
			known = append(known, "{"+name+"}")
		}
		sort.Strings(known)
		return "", fmt.Errorf("%q: nothing is known for %s; hint: known are %s, and {hyper.NAME} for what the spec sets", word, strings.Join(missing, ", "), strings.Join(known, " "))
	}
	return out, nil
}

func (v Values) fillAll(words []string) ([]string, error) {
	out := make([]string, 0, len(words))
	for _, w := range words {
		s, err := v.fill(w)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// InitArgv is the command line that writes the first weights below a folder.
func (r *Recipe) InitArgv(seed uint64, folder string, v Values) ([]string, error) {
	if r.Init == nil {
		return nil, fmt.Errorf("recipe of trainer %s has no init: it makes no first weights", r.Trainer)
	}
	all := Values{"recipe": r.folder, "seed": strconv.FormatUint(seed, 10), "checkpoint": filepath.Join(folder, r.layout.Folder(0))}
	for name, value := range v {
		all[name] = value
	}
	argv, err := all.fillAll(slices.Concat(r.Init.Program, r.Init.Arguments))
	if err != nil {
		return nil, fmt.Errorf("recipe of trainer %s: init: %w", r.Trainer, err)
	}
	return argv, nil
}

// Argv is the command line of a segment, and the environment that the recipe adds. resume is
// the folder of the checkpoint to go on from, empty for a start from the base.
func (r *Recipe) Argv(s Spec, g Segment, v Values, resume string) (argv, env []string, err error) {
	c, ok := r.Commands[s.Stage]
	if !ok {
		return nil, nil, fmt.Errorf("trainer %s has no command for stage %s", r.Trainer, s.Stage)
	}
	all := Values{
		"recipe": r.folder, "from": strconv.Itoa(g.From), "to": strconv.Itoa(g.To), "steps": strconv.Itoa(s.Steps),
		"group": strconv.Itoa(s.Group), "updates": strconv.Itoa(s.Updates), "seed": strconv.FormatUint(s.Seed, 10),
		"gpus": strconv.Itoa(s.GPUs), "save_every": strconv.Itoa(r.Target(s, s.SaveEvery)), "batch": g.Batch, "identity": g.Run.String(),
		"reward": s.Reward.String(),
		"target": strconv.Itoa(r.Target(s, g.To)), "checkpoint": resume,
	}
	for name, value := range s.Hyper {
		all["hyper."+name] = fmt.Sprint(value)
	}
	for name, value := range v {
		all[name] = value
	}
	words := slices.Concat(c.Program, c.Arguments, c.Fresh)
	if resume != "" {
		words = slices.Concat(c.Program, c.Arguments, c.Resume)
	}
	if argv, err = all.fillAll(words); err != nil {
		return nil, nil, fmt.Errorf("recipe of trainer %s: commands.%s: %w", r.Trainer, s.Stage, err)
	}
	for name, value := range r.Environment {
		filled, err := all.fill(value)
		if err != nil {
			return nil, nil, fmt.Errorf("recipe of trainer %s: environment.%s: %w", r.Trainer, name, err)
		}
		env = append(env, name+"="+filled)
	}
	sort.Strings(env)
	return argv, env, nil
}
