package trainertest

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/trainer"
)

// Env makes a test binary a trainer, or a server of its checkpoints: what it says is how it
// behaves. "honest" trains; for the others see the tests of package trainer.
const Env = "CXREPRO_FAKE_TRAINER"

// Main turns this process into a trainer if a recipe of [Recipe] started it, and then does not
// return; otherwise it does nothing. It is the first call of TestMain.
func Main() {
	how := os.Getenv(Env)
	switch {
	case how == "":
		return
	case len(os.Args) > 1 && os.Args[1] == "serve":
		os.Exit(say(serve(os.Args[2:])))
	}
	f, err := parse(how, os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(say(f.train()))
}

func say(err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// faker is a trainer that learns nothing and keeps every promise of its layout, but for what it
// is told to break. Its weights are a digest of everything it consumed, in order, so that equal
// weights mean equal training.
type faker struct {
	layout, how     string
	run, batch, id  string
	from, to, every int
	updates, group  int
	attempt         int
	checkpoint      string
	weights         [32]byte
	schedule        trainer.Schedule
	offset          int // a replaying trainer begins the data anew
}

// parse reads the command line that Recipe writes.
func parse(how string, args []string) (*faker, error) {
	f := &faker{how: how, layout: args[0], run: args[1], checkpoint: args[8], batch: args[9], id: args[10]}
	for i, v := range []*int{&f.from, &f.to, &f.every, &f.updates, &f.group, &f.attempt} {
		n, err := strconv.Atoi(args[2+i])
		if err != nil {
			return nil, err
		}
		*v = n
	}
	return f, nil
}

// on reports whether the trainer shall misbehave: "crash:mid-save:3" in its first attempt.
func (f *faker) on(kind string, rest ...any) bool {
	text := kind
	for _, r := range rest {
		text += fmt.Sprint(":", r)
	}
	return f.how == text && (f.attempt == 1 || kind == "always")
}

func (f *faker) train() error {
	data, err := os.ReadFile(filepath.Join(f.run, "schedule.jsonl"))
	if err != nil {
		return err
	}
	if f.schedule, err = trainer.DecodeSchedule(data); err != nil {
		return err
	}
	step := f.from
	if f.checkpoint != "" {
		if step, err = f.load(); err != nil {
			return err
		}
		if f.how == "replay" {
			f.offset = step
		}
	}
	switch f.how {
	case "nothing":
		return nil
	case "memory":
		return fmt.Errorf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB, token %s", os.Getenv("TOKEN"))
	}
	to := f.to
	if f.how == "half" {
		to = f.from + (f.to-f.from)/2
	}
	for step++; step <= to; step++ {
		if err := f.step(step); err != nil {
			return err
		}
	}
	return nil
}

func (f *faker) step(step int) error {
	f.crash("before-step", step)
	items := f.schedule[step-f.offset-1].Items
	if err := f.post(step, items); err != nil {
		return err
	}
	f.crash("rewarded", step)
	if f.batch != "" {
		data, err := os.ReadFile(filepath.Join(f.run, f.batch))
		if err != nil {
			return err
		}
		f.weights = sha256.Sum256(append(f.weights[:], data...))
	}
	for _, id := range items {
		f.weights = sha256.Sum256(append(f.weights[:], id...))
	}
	fmt.Printf("step %d\n", step)
	f.crash("updated", step)
	switch {
	case f.on("hang", step):
		time.Sleep(time.Hour)
	case f.on("deaf", step):
		signal.Ignore(syscall.SIGTERM)
		time.Sleep(time.Hour)
	case f.how == "slow":
		time.Sleep(30 * time.Millisecond)
	}
	if step%f.every == 0 || step == f.to {
		if err := f.save(step); err != nil {
			return err
		}
	}
	f.crash("saved", step)
	if f.layout == "verl" {
		return nil // it writes no events
	}
	text, err := json.Marshal(trainer.Event{Attempt: f.attempt, Step: step, OptimizerStep: step * f.updates, Items: items, Samples: len(items) * f.group, Weights: fmt.Sprintf("sha256:%x", f.weights)})
	if err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(f.run, trainer.EventsName), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	if f.on("crash", "mid-event", step) {
		log.Write(text[:len(text)/2])
		f.crash("mid-event", step)
	}
	if f.attempt > 1 {
		text = append([]byte("\n"), text...) // the attempt before may have torn a line
	}
	_, err = log.Write(append(text, '\n'))
	f.crash("told", step)
	return err
}

// crash ends the trainer at once where it was told to.
func (f *faker) crash(point string, step int) {
	if f.on("crash", point, step) {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Hour)
	}
}

// post asks for the rewards of a step, as a trainer that generates does.
func (f *faker) post(step int, items []string) error {
	url := os.Getenv("REWARD_URL")
	if url == "" {
		return nil
	}
	var samples []trainer.Sample
	for _, id := range items {
		for draw := range f.group {
			samples = append(samples, trainer.Sample{Attempt: f.attempt, Step: step, Item: id, Group: fmt.Sprint(step, "/", id), Draw: draw})
		}
	}
	text, err := json.Marshal(samples)
	if err != nil {
		return err
	}
	resp, err := http.Post(url, "application/json", bytes.NewReader(text))
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// load reads the weights of a checkpoint, and the step that they stand at in this run: 0 for
// the base.
func (f *faker) load() (int, error) {
	w, state, err := read(f.layout, f.checkpoint)
	if err != nil {
		return 0, err
	}
	f.weights = w
	if f.layout == "tiny" && state.Run != f.id {
		return 0, nil
	}
	if f.layout == "hf" {
		return state.Step / f.updates, nil
	}
	return state.Step, nil
}

// state is trainer_state.json.
type state struct {
	Step      int    `json:"global_step"`
	Most      int    `json:"max_steps"`
	Optimizer int    `json:"optimizer_step"`
	Run       string `json:"run"`
}

// read reads weights and state of a checkpoint.
func read(layout, folder string) (w [32]byte, s state, err error) {
	if layout == "verl" {
		z, err := zip.OpenReader(filepath.Join(folder, "actor/model_world_size_2_rank_0.pt"))
		if err != nil {
			return w, s, err
		}
		defer z.Close()
		r, err := z.Open("archive/data/0")
		if err != nil {
			return w, s, err
		}
		defer r.Close()
		_, err = io.ReadFull(r, w[:])
		if err != nil {
			return w, s, err
		}
		s.Step, err = strconv.Atoi(folder[strings.LastIndexByte(folder, '_')+1:])
		return w, s, err
	}
	data, err := os.ReadFile(filepath.Join(folder, "model.safetensors"))
	if err != nil {
		return w, s, err
	}
	copy(w[:], data[len(data)-32:])
	text, err := os.ReadFile(filepath.Join(folder, "trainer_state.json"))
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	return w, s, err
}

func (f *faker) save(step int) error {
	folder := filepath.Join(f.run, "checkpoints")
	torn := f.how == "torn" && step == f.to
	if f.layout == "verl" {
		dir := filepath.Join(folder, fmt.Sprint("global_step_", step))
		put := func(name string, data []byte) { writeFile(filepath.Join(dir, name), data) }
		put("data.pt", torch(nil, nil))
		for rank := range 2 {
			put(fmt.Sprintf("actor/model_world_size_2_rank_%d.pt", rank), torch(nil, f.weights[:]))
			f.crash("mid-save", step)
			put(fmt.Sprintf("actor/optim_world_size_2_rank_%d.pt", rank), torch(nil, f.weights[:]))
			if torn && rank == 1 {
				put("actor/optim_world_size_2_rank_1.pt", torch(nil, f.weights[:])[:40])
			}
			put(fmt.Sprintf("actor/extra_state_world_size_2_rank_%d.pt", rank), torch(pickled("last_epoch", step), nil))
		}
		f.crash("untracked", step)
		writeFile(filepath.Join(folder, "latest_checkpointed_iteration.txt"), fmt.Append(nil, step))
		return nil
	}
	if f.layout == "tiny" {
		return f.saveTiny(folder, step)
	}
	dir := filepath.Join(folder, fmt.Sprint("checkpoint-", step*f.updates))
	writeFile(filepath.Join(dir, "model.safetensors"), safetensors(f.weights[:]))
	f.crash("mid-save", step)
	if !torn {
		writeFile(filepath.Join(dir, "optimizer.pt"), torch(nil, f.weights[:]))
	}
	f.crash("untracked", step)
	writeFile(filepath.Join(dir, "trainer_state.json"), fmt.Appendf(nil, `{"global_step": %d, "max_steps": %d}`, step*f.updates, f.to*f.updates))
	return nil
}

// saveTiny writes under another name and renames. A whole checkpoint that is there stays.
func (f *faker) saveTiny(folder string, step int) error {
	dir := filepath.Join(folder, fmt.Sprint("checkpoint-", step))
	if w, _, err := read("tiny", dir); err == nil {
		if w != f.weights {
			return fmt.Errorf("%s is there with other weights", dir)
		}
		return nil
	}
	part := filepath.Join(folder, fmt.Sprintf(".checkpoint-%d.tmp-%d", step, os.Getpid()))
	WriteTiny(part, f.weights, f.id, step, step*f.updates)
	f.crash("mid-save", step)
	return os.Rename(part, dir)
}

// WriteTiny writes a checkpoint in the layout of the small trainer, with its manifest, and
// returns the digest of its weights.
func WriteTiny(dir string, w [32]byte, run string, step, optimizer int) artifacts.Digest {
	text, err := json.Marshal(state{Step: step, Optimizer: optimizer, Run: run})
	if err != nil {
		panic(err)
	}
	files := map[string][]byte{"model.safetensors": safetensors(w[:]), "optimizer.safetensors": safetensors(w[:8]), "trainer_state.json": text}
	weights := artifacts.Sum(files["model.safetensors"])
	m := trainer.Manifest{Schema: 1, Step: step, Weights: weights.String(), Files: map[string]trainer.ManifestFile{}}
	for name, data := range files {
		writeFile(filepath.Join(dir, name), data)
		m.Files[name] = trainer.ManifestFile{SHA256: artifacts.Sum(data).Hex(), Size: int64(len(data))}
	}
	if text, err = json.Marshal(m); err != nil {
		panic(err)
	}
	writeFile(filepath.Join(dir, trainer.ManifestName), text)
	return weights
}

func writeFile(path string, data []byte) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		panic(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		panic(err)
	}
}

// torch is a torch archive with a pickle and one storage.
func torch(pickle, storage []byte) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range []struct {
		name string
		data []byte
	}{{"archive/data.pkl", pickle}, {"archive/data/0", storage}} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: f.name})
		if err != nil {
			panic(err)
		}
		w.Write(f.data)
	}
	z.Close()
	return b.Bytes()
}

// pickled is a dictionary of one small number in protocol 2.
func pickled(key string, n int) []byte {
	b := append([]byte("\x80\x02}q\x00X"), binary.LittleEndian.AppendUint32(nil, uint32(len(key)))...)
	b = append(append(b, key...), 'q', 1)
	if n < 256 {
		return append(b, 'K', byte(n), 's', '.')
	}
	return append(append(b, 'M'), byte(n), byte(n>>8), 's', '.')
}

// safetensors is a file with one tensor.
func safetensors(data []byte) []byte {
	head := fmt.Appendf(nil, `{"w":{"dtype":"U8","shape":[%d],"data_offsets":[0,%d]}}`, len(data), len(data))
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(head))), head...), data...)
}
