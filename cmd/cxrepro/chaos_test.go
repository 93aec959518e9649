package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/phantom"
)

// Settings of the chaos test: how many kills (CXREPRO_CHAOS_KILLS, default 5) from which
// seed (CXREPRO_CHAOS_SEED). `task chaos` asks for 40.
const (
	chaosKills    = "CXREPRO_CHAOS_KILLS"
	chaosSeed     = "CXREPRO_CHAOS_SEED"
	chaosPictures = 12
	// killsPerRun bounds how often one reproduction is killed before it may end.
	killsPerRun = 5
)

// TestChaos draws phantoms, reproduces them undisturbed through real inference, and then
// again and again under SIGKILL: at named points around every write, in a heartbeat, at
// random instants, in the Temporal server and its supervisor, and twice in a row while
// resuming. Every result must be the undisturbed one to the byte, no step whose record
// existed may run again, and every receipt must add up.
func TestChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	c := &chaos{bench: phantomBench(t, chaosPictures), rng: rand.New(rand.NewPCG(number(t, chaosSeed, 1), 7)), t: t, kinds: map[string]int{}}
	code, calm, talk := c.run()
	if code != exitOK {
		t.Fatalf("undisturbed run: exit %d\n%s", code, talk)
	}
	total := int(number(t, chaosKills, 5))
	for rounds := 0; c.kills < total; rounds++ {
		c.state = filepath.Join(c.dir, fmt.Sprintf("state-%d", rounds))
		c.recorded = nil
		for n := min(killsPerRun, total-c.kills); n > 0 && c.strike(); n-- {
		}
		c.environment = nil
		code, got, talk := c.run()
		if code != exitOK {
			t.Fatalf("round %d: exit %d after the kills\n%s", rounds, code, talk)
		}
		c.compare(rounds, calm, got)
		c.noneAgain(rounds)
		if rounds > 2*total {
			t.Fatalf("%d rounds for %d kills: runs end before they can be killed", rounds, c.kills)
		}
		if err := os.RemoveAll(c.state); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d kills (%v), every result %s; %d steps were in hand at a kill and ran once more, no recorded step did",
		c.kills, c.kinds, calm.ResultDigest, c.repeated)
}

// chaos is one campaign of kills.
type chaos struct {
	*bench
	t        *testing.T
	rng      *rand.Rand
	kills    int
	kinds    map[string]int
	repeated int
	// recorded are the index entries that existed after each kill, with the time.
	recorded []snapshot
}

type snapshot struct {
	at   time.Time
	keys map[string]bool
}

// strike starts the run and kills something in it. It reports false when the run came to
// its end all the same.
func (c *chaos) strike() bool {
	points := []string{"before-blob-put", "after-blob-put", "before-index-put", "after-index-put"}
	kind := c.rng.IntN(8)
	c.environment = nil
	switch {
	case kind < 3:
		point := points[c.rng.IntN(len(points))]
		c.environment = []string{fmt.Sprintf("CXREPRO_FAULT=%s:%d", point, 1+c.rng.IntN(20))}
		return c.killed(point, func(*exec.Cmd) {})
	case kind == 3:
		c.environment = []string{"CXREPRO_FAULT=in-heartbeat:1"}
		return c.killed("in-heartbeat", func(*exec.Cmd) {})
	case kind < 6:
		wait := time.Duration(50+c.rng.IntN(2500)) * time.Millisecond
		return c.killed("at random", func(cmd *exec.Cmd) { time.Sleep(wait); _ = cmd.Process.Kill() })
	default:
		who := []string{"server", "supervisor"}[kind-6]
		wait := time.Duration(200+c.rng.IntN(1500)) * time.Millisecond
		return c.killed("in the "+who, func(cmd *exec.Cmd) {
			time.Sleep(wait)
			c.killServer(who)
			time.Sleep(time.Duration(c.rng.IntN(800)) * time.Millisecond)
			_ = cmd.Process.Kill()
		})
	}
}

// killed runs the command while strike does its deed, and notes what was recorded by then.
func (c *chaos) killed(kind string, deed func(*exec.Cmd)) bool {
	var talk bytes.Buffer
	cmd := c.command(c.arguments()...)
	cmd.Stdout, cmd.Stderr = &talk, &talk
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { deed(cmd); close(done) }()
	_ = cmd.Wait()
	<-done
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !status.Signaled() || status.Signal() != syscall.SIGKILL {
		if code := status.ExitStatus(); code != exitOK {
			c.t.Fatalf("killed %s: exit %d\n%s", kind, code, talk.String())
		}
		return false
	}
	c.kills++
	c.kinds[kind]++
	c.recorded = append(c.recorded, snapshot{at: time.Now(), keys: c.entries()})
	return true
}

// killServer ends the embedded server or its supervisor as the lock file names them.
func (c *chaos) killServer(who string) {
	data, err := os.ReadFile(filepath.Join(c.state, "temporal", "lock.json"))
	if err != nil {
		return // not started yet
	}
	var lock struct {
		State              string
		Server, Supervisor struct {
			PID   int
			Start string
		}
	}
	if json.Unmarshal(data, &lock) != nil || lock.State == "stopped" {
		return
	}
	p := lock.Server
	if who == "supervisor" {
		p = lock.Supervisor
	}
	if p.PID > 1 && startOf(p.PID) == p.Start {
		_ = syscall.Kill(p.PID, syscall.SIGKILL)
	}
}

// startOf returns the start time of a process in clock ticks, so that a number that was
// given to another process is never taken for ours.
func startOf(pid int) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}

// entries lists the keys in the store's index.
func (c *chaos) entries() map[string]bool {
	keys := map[string]bool{}
	root := filepath.Join(c.state, "store", "index")
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(root, path)
			parts := strings.Split(filepath.ToSlash(rel), "/")
			keys[parts[0]+"/sha256:"+parts[len(parts)-1]] = true
		}
		return nil
	})
	return keys
}

func (c *chaos) compare(round int, calm, got *contract.Receipt) {
	c.t.Helper()
	if got.ResultDigest != calm.ResultDigest || got.Reproduction != calm.Reproduction {
		c.t.Errorf("round %d: result %s of %s, undisturbed %s of %s", round, got.ResultDigest, got.Reproduction, calm.ResultDigest, calm.Reproduction)
	}
	if got.Steps.Needed != calm.Steps.Needed || got.Steps.Run != calm.Steps.Run || got.Steps.Reused != calm.Steps.Reused {
		c.t.Errorf("round %d: steps %+v, undisturbed %+v", round, got.Steps, calm.Steps)
	}
	c.repeated += got.Steps.Repeated
}

// noneAgain holds that no step was started after a moment at which its record existed.
func (c *chaos) noneAgain(round int) {
	c.t.Helper()
	type statement struct {
		Predicate struct {
			Key        json.RawMessage `json:"key_document"`
			Invocation struct {
				Started time.Time `json:"started"`
			} `json:"invocation"`
		} `json:"predicate"`
	}
	root := filepath.Join(c.state, "store", "statements")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var s statement
		if err := json.Unmarshal(data, &s); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		key, err := keyOf(s.Predicate.Key)
		if err != nil {
			return err
		}
		for _, snap := range c.recorded {
			if snap.keys[key] && s.Predicate.Invocation.Started.After(snap.at) {
				c.t.Errorf("round %d: %s ran again at %s although it was recorded at %s", round, key, s.Predicate.Invocation.Started, snap.at)
			}
		}
		return nil
	})
	if err != nil {
		c.t.Error(err)
	}
}

// number reads a whole number from the environment.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		t.Fatalf("%s=%q: want a whole number", name, text)
	}
	return n
}

// keyOf returns the key of a statement's key document, which is canonical as it stands.
func keyOf(document json.RawMessage) (string, error) {
	var head struct {
		Step string `json:"step"`
	}
	if err := json.Unmarshal(document, &head); err != nil {
		return "", err
	}
	return head.Step + "/" + artifacts.Sum(document).String(), nil
}

// phantomBench is a state directory with phantoms and the demo's experiment over them.
func phantomBench(t *testing.T, n int) *bench {
	t.Helper()
	spec, err := filepath.Abs("../../experiments/chexstruct-demo/spec.yaml")
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: t.TempDir(), spec: spec}
	b.state = filepath.Join(b.dir, "state")
	out, err := b.command("phantom", "generate", "--n", strconv.Itoa(n), "--seed", "33", "--size", "512", "--out", "phantoms").CombinedOutput()
	if err != nil {
		t.Fatalf("phantoms: %v\n%s", err, out)
	}
	for name, folder := range map[string]string{
		"phantom": phantom.FolderImages, "chest-imagenome": phantom.FolderImaGenome, "chexmask": phantom.FolderCheXmask,
	} {
		b.data = append(b.data, "--data", name+"="+filepath.Join("phantoms", folder))
	}
	return b
}

// arguments are those of bench.run.
func (c *chaos) arguments() []string {
	return append([]string{"run", c.spec, "--json", "--heartbeat-timeout", "2s", "--retry-interval", "100ms"}, c.data...)
}
