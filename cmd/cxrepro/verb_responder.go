package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/responder"
)

// responderFlags are the flags of `responder`.
type responderFlags struct {
	listen, profile, benchmark, questions, radiographs, faults, credential string
	latency                                                                time.Duration
}

func newResponderCommand(a *app) *cobra.Command {
	var f responderFlags
	c := &cobra.Command{
		Use:   "responder --profile FILE {--benchmark DIR | --questions FILE}",
		Short: "Answer chat completions about a benchmark or a question set, simulated",
		Long: `A simulated model endpoint. It speaks the chat-completions protocol, recognises which
question of the benchmark a request asks, and answers as its profile says: as a model of the
paper fared, always right, "I don't know", any letter, or by a script. Judge prompts are
answered as a competent judge would. The same request always gets the same reply.

  POST /v1/chat/completions  also below /openai/deployments/NAME/, as Azure has it
  GET  /v1/models            the profile's models
  GET  /counts               what was asked so far; DELETE begins anew

--profile is a file, or the name of a profile that the program carries: ` + strings.Join(carriedProfiles(), ", ") + `.
--questions is a question set of an agent's reproduction: a file, or its digest in the store.
--benchmark is a folder written by ` + "`cxrepro cxreasonbench build`" + `, or the digest of a benchmark's
manifest in the store; a profile of teachers (docs/rad-cot.md) needs none. --faults makes the endpoint fail by a script: a file, or the carried one,
` + carriedFaults + `.

The address is printed when it answers; Ctrl-C ends it and prints the counts.

Exit codes: 0 stopped as told; 1 failed; 2 usage, profile or fault script; 6 store unreachable.`,
		Example: `  cxrepro responder --profile demo --benchmark B
  cxrepro responder --profile paper --benchmark B --listen 127.0.0.1:8000 --latency 1s`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.respond(c.Context(), f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.listen, "listen", "127.0.0.1:0", "address to listen on; port 0 is a free one")
	fl.StringVar(&f.profile, "profile", "", "profile: a file, or the name of one that the program carries")
	fl.StringVar(&f.benchmark, "benchmark", "", "folder of the benchmark, or its manifest's digest in the store")
	fl.StringVar(&f.questions, "questions", "", "question set for policies of the agent: a file, or its digest in the store")
	fl.StringVar(&f.radiographs, "radiographs", "", "folder of the radiographs, where they are not in the benchmark's files/")
	fl.StringVar(&f.faults, "faults", "", "fault script: a file, or the name of the one that the program carries")
	fl.StringVar(&f.credential, "credential-env", "", "environment variable with a credential that every request must bring")
	fl.DurationVar(&f.latency, "latency", 0, "how long every reply takes at least")
	return c
}

// profileFolder holds the profiles that the program carries.
const profileFolder = "cxreasonbench-demo/profiles"

// carriedFaults is the name of the fault script that lies beside them.
const carriedFaults = "faults"

// carriedProfiles are the names of those profiles.
func carriedProfiles() []string {
	return slices.DeleteFunc(carried(), func(name string) bool { return name == carriedFaults })
}

// carried are the names of those profiles and of the fault script.
func carried() []string {
	var names []string
	for _, folder := range []string{profileFolder, agentProfiles} {
		files, err := fs.Glob(experiments.Files, folder+"/*.yaml")
		if err != nil {
			return nil
		}
		for _, f := range files {
			names = append(names, strings.TrimSuffix(path.Base(f), ".yaml"))
		}
	}
	return names
}

// readCarried reads a file, or one that the program carries.
func readCarried(name string) ([]byte, error) {
	data, err := os.ReadFile(name)
	if !errors.Is(err, fs.ErrNotExist) || !slices.Contains(carried(), name) {
		return data, err
	}
	if data, err = experiments.Files.ReadFile(profileFolder + "/" + name + ".yaml"); errors.Is(err, fs.ErrNotExist) {
		return experiments.Files.ReadFile(agentProfiles + "/" + name + ".yaml")
	}
	return data, err
}

// responderOptions reads what the flags name.
func (a *app) responderOptions(ctx context.Context, f responderFlags) (o responder.Options, err error) {
	see := "see `cxrepro responder --help`"
	if f.profile == "" {
		return o, usageError(see, "--profile is missing")
	}
	if f.latency < 0 {
		return o, usageError(see, "--latency %s is negative", f.latency)
	}
	o.Latency = f.latency
	data, err := readCarried(f.profile)
	if err != nil {
		return o, usageError("a file, or one of "+strings.Join(carriedProfiles(), ", "), "--profile: %v", err)
	}
	if o.Profile, err = responder.ParseProfile(f.profile, data); err != nil {
		return o, &exitError{Code: exitUsage, Err: err}
	}
	if f.faults != "" {
		if data, err = readCarried(f.faults); err != nil {
			return o, usageError(see, "--faults: %v", err)
		}
		if o.Faults, err = responder.ParseFaults(f.faults, data); err != nil {
			return o, &exitError{Code: exitUsage, Err: err}
		}
	}
	if f.credential != "" {
		if o.Credential = os.Getenv(f.credential); o.Credential == "" {
			return o, usageError("set it, or leave --credential-env out", "the environment variable %s is empty", f.credential)
		}
	}
	teachers := !slices.ContainsFunc(o.Profile.Models, func(m responder.Model) bool { return m.Behaviour != responder.Teacher })
	if f.benchmark == "" && f.questions == "" && !teachers {
		return o, usageError(see, "--benchmark or --questions is missing")
	}
	if f.questions != "" {
		if o.Questions, err = a.responderQuestions(ctx, f.questions); err != nil {
			return o, err
		}
	}
	if f.benchmark != "" {
		o.Benchmark, err = a.responderBenchmark(ctx, f)
	}
	return o, err
}

// responderQuestions reads a question set. Pictures that a client resized are recognised where
// the set came from the store, which has them.
func (a *app) responderQuestions(ctx context.Context, which string) (*responder.Questions, error) {
	var q contract.Questions
	var open func(artifacts.Ref) ([]byte, error)
	if digest, err := artifacts.ParseDigest(which); err == nil {
		store, err := a.openStore(ctx)
		if err != nil {
			return nil, err
		}
		info, err := store.StatBlob(ctx, digest)
		if err == nil {
			err = readJSON(ctx, store, artifacts.Ref{Digest: digest, Size: info.Size, MediaType: contract.QuestionsMediaType}, &q)
		}
		if err != nil {
			return nil, storeError(err)
		}
		open = func(ref artifacts.Ref) ([]byte, error) { return store.Get(ctx, ref) }
	} else if data, err := os.ReadFile(which); err != nil {
		return nil, usageError("a file, or a digest of the store", "--questions: %v", err)
	} else if err := json.Unmarshal(data, &q); err != nil {
		return nil, usageError("the document that the receipt of an agent's reproduction names under questions", "--questions %s: %v", which, err)
	}
	if q.Format != contract.QuestionsFormat {
		return nil, usageError("the receipt of an agent's reproduction names one under questions", "%s is no question set: format %q", which, q.Format)
	}
	questions, err := responder.NewQuestions(q.Items, open)
	if err != nil {
		return nil, &exitError{Code: exitUsage, Err: err}
	}
	return questions, nil
}

func (a *app) responderBenchmark(ctx context.Context, f responderFlags) (*responder.Benchmark, error) {
	if digest, err := artifacts.ParseDigest(f.benchmark); err == nil {
		store, err := a.openStore(ctx)
		if err != nil {
			return nil, err
		}
		info, err := store.StatBlob(ctx, digest)
		if err != nil {
			return nil, storeError(err)
		}
		data, err := store.Get(ctx, artifacts.Ref{Digest: digest, Size: info.Size, MediaType: contract.BenchmarkMediaType})
		if err != nil {
			return nil, storeError(err)
		}
		var m contract.Benchmark
		if err := json.Unmarshal(data, &m); err != nil || m.Format != contract.BenchmarkFormat {
			return nil, usageError("its digest stands in the receipt of the reproduction that built it", "%s is no benchmark's manifest", f.benchmark)
		}
		return responder.ReadStored(ctx, m, store.Get)
	}
	if info, err := os.Stat(f.benchmark); err != nil || !info.IsDir() {
		return nil, usageError("build one with `cxrepro cxreasonbench build --out DIR`", "--benchmark %s is no folder and no digest", f.benchmark)
	}
	var radiographs fs.FS
	if f.radiographs != "" {
		radiographs = openFolder(f.radiographs)
	}
	return responder.ReadFolder(openFolder(f.benchmark), radiographs)
}

// responderReady is what `responder --json` prints when it answers.
type responderReady struct {
	Event  string   `json:"event"` // "ready"
	URL    string   `json:"url"`
	Models []string `json:"models"`
	Cases  int      `json:"cases"`
	Items  int      `json:"items,omitempty"`
	PID    int      `json:"pid"`
}

func (a *app) respond(ctx context.Context, f responderFlags) error {
	o, err := a.responderOptions(ctx, f)
	if err != nil {
		return err
	}
	r, err := responder.New(o)
	if err != nil {
		return &exitError{Code: exitUsage, Err: err}
	}
	listener, err := net.Listen("tcp", f.listen)
	if err != nil {
		return usageError("another --listen, for example 127.0.0.1:0", "%v", err)
	}
	ready := responderReady{Event: "ready", URL: "http://" + listener.Addr().String() + "/v1", PID: os.Getpid()}
	if o.Benchmark != nil {
		ready.Cases = o.Benchmark.Cases()
	}
	if o.Questions != nil {
		ready.Items = o.Questions.Items()
	}
	for _, m := range o.Profile.Models {
		ready.Models = append(ready.Models, m.Name)
	}
	if a.JSON() {
		err = json.NewEncoder(a.out).Encode(ready)
	} else {
		_, err = fmt.Fprintf(a.out, "url     %s\nmodels  %s\ncases   %d\n", ready.URL, strings.Join(ready.Models, ", "), ready.Cases)
		if err == nil && ready.Items > 0 {
			_, err = fmt.Fprintf(a.out, "items   %d\n", ready.Items)
		}
	}
	if err != nil {
		listener.Close()
		return err
	}
	server := &http.Server{Handler: r, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	n := r.Counts()
	a.say(fmt.Sprintf("stopped after %d requests, %d answered, %d of them not for the first time", n.Requests, n.Answered, n.Repeated))
	return nil
}
