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
	listen, profile, benchmark, radiographs, faults, credential string
	latency                                                     time.Duration
}

func newResponderCommand(a *app) *cobra.Command {
	var f responderFlags
	c := &cobra.Command{
		Use:   "responder --profile FILE --benchmark DIR",
		Short: "Answer chat completions about a benchmark, simulated",
		Long: `A simulated model endpoint. It speaks the chat-completions protocol, recognises which
question of the benchmark a request asks, and answers as its profile says: as a model of the
paper fared, always right, "I don't know", any letter, or by a script. Judge prompts are
answered as a competent judge would. The same request always gets the same reply.

  POST /v1/chat/completions  also below /openai/deployments/NAME/, as Azure has it
  GET  /v1/models            the profile's models
  GET  /counts               what was asked so far; DELETE begins anew

--profile is a file, or the name of a profile that the program carries: ` + strings.Join(carriedProfiles(), ", ") + `.
--benchmark is a folder written by ` + "`cxrepro cxreasonbench build`" + `, or the digest of a benchmark's
manifest in the store. --faults makes the endpoint fail by a script: a file, or the carried one,
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
	files, err := fs.Glob(experiments.Files, profileFolder+"/*.yaml")
	if err != nil {
		return nil
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(path.Base(f), ".yaml")
	}
	return files
}

// readCarried reads a file, or one that the program carries.
func readCarried(name string) ([]byte, error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) && slices.Contains(carried(), name) {
		return experiments.Files.ReadFile(profileFolder + "/" + name + ".yaml")
	}
	return data, err
}

// responderOptions reads what the flags name.
func (a *app) responderOptions(ctx context.Context, f responderFlags) (o responder.Options, err error) {
	see := "see `cxrepro responder --help`"
	for flag, value := range map[string]string{"profile": f.profile, "benchmark": f.benchmark} {
		if value == "" {
			return o, usageError(see, "--%s is missing", flag)
		}
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
	o.Benchmark, err = a.responderBenchmark(ctx, f)
	return o, err
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
	ready := responderReady{Event: "ready", URL: "http://" + listener.Addr().String() + "/v1", Cases: o.Benchmark.Cases(), PID: os.Getpid()}
	for _, m := range o.Profile.Models {
		ready.Models = append(ready.Models, m.Name)
	}
	if a.JSON() {
		err = json.NewEncoder(a.out).Encode(ready)
	} else {
		_, err = fmt.Fprintf(a.out, "url     %s\nmodels  %s\ncases   %d\n", ready.URL, strings.Join(ready.Models, ", "), ready.Cases)
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
