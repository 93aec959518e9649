package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/artifacts/localhost"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/datause"
	"cxrepro/internal/ledger/limit"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/recorded"
	"cxrepro/internal/provenance"
	"cxrepro/internal/rewardserver"
	"cxrepro/internal/xragent"
	"cxrepro/worker"
)

// serveFlags are the flags of `xragent serve`.
type serveFlags struct {
	listen, arm         string
	tokenFile, tokenEnv string
	cert, key           string
	group               int
	maxMiB              int64
}

// rewardTokenEnv is the variable that holds the token unless another one is named.
const rewardTokenEnv = "CXREPRO_REWARD_TOKEN"

func newXragentServeCommand(a *app) *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve [RUN]",
		Short: "Serve rewards and observations to a trainer, over HTTP",
		Long: `Serves the items of a reproduction with an agent to trainers that generate by themselves (verl,
TRL, ms-swift): the same rewards and the same observations as our own rollouts. RUN is its
id, a beginning of it, its name, or latest.

  POST /v1/rewards       scores up to 256 trajectories; records each with its reward
  POST /v1/observations  runs the plan of a first turn and returns the message for turn 2
  GET  /v1/config        what is served: the digest of the reward setting, agent, group size
  GET  /v1/groups        what is recorded of a run's groups: ?run_id=RUN&step=N
  GET  /healthz          without a token

The reward setting and the measurement profile are those of the reproduction's plan; --arm says
how the agent runs. Lookups are answered by the items' own texts or from what is recorded; no
model is asked. A reply is a function of the request, so a repeated request is answered
alike and recorded once. Requests bring the bearer token that the file of --token-file or the
variable of --token-env holds. Without a certificate only loopback is served.

With --json the first line says {"event":"ready","url":...,"reward_config":...}.

Exit codes: 0 stopped as told; 1 failed; 2 usage; 6 store unreachable.`,
		Example: `  CXREPRO_REWARD_TOKEN=... cxrepro xragent serve latest --listen 127.0.0.1:8600
  cxrepro xragent serve latest --token-file token --listen 10.0.0.5:8600 --tls-cert cert.pem --tls-key key.pem`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			which := latest
			if len(args) > 0 {
				which = args[0]
			}
			return a.serveRewards(c.Context(), f, which)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.listen, "listen", "127.0.0.1:0", "address to listen on; port 0 is a free one")
	fl.StringVar(&f.arm, "arm", xragent.ArmDefault, "how the agent runs: "+strings.Join(xragent.Arms(), ", "))
	fl.StringVar(&f.tokenFile, "token-file", "", "FILE that holds the bearer token")
	fl.StringVar(&f.tokenEnv, "token-env", rewardTokenEnv, "environment variable that holds the bearer token, where there is no file")
	fl.StringVar(&f.cert, "tls-cert", "", "FILE: certificate, PEM")
	fl.StringVar(&f.key, "tls-key", "", "FILE: its key, PEM")
	fl.IntVar(&f.group, "group", rewardserver.DefaultGroup, "samples of an item that are compared (G)")
	fl.Int64Var(&f.maxMiB, "max-request", rewardserver.DefaultMaxBytes>>20, "largest request, MiB")
	return c
}

// token reads the bearer token.
func (f *serveFlags) token() (string, error) {
	text, from := os.Getenv(f.tokenEnv), "the environment variable "+f.tokenEnv
	if f.tokenFile != "" {
		data, err := os.ReadFile(f.tokenFile)
		if err != nil {
			return "", usageError("a file with the token and nothing else", "--token-file: %v", err)
		}
		text, from = string(data), f.tokenFile
	}
	if text = strings.TrimSpace(text); len(text) < 16 {
		return "", usageError("at least 16 characters, in "+f.tokenEnv+" or in the file of --token-file", "%s holds no token", from)
	}
	return text, nil
}

// certificate is nil where none is named.
func (f *serveFlags) certificate() (*tls.Certificate, error) {
	if f.cert == "" && f.key == "" {
		return nil, nil
	}
	c, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return nil, usageError("--tls-cert and --tls-key belong together", "certificate: %v", err)
	}
	return &c, nil
}

func (a *app) serveRewards(ctx context.Context, f serveFlags, which string) error {
	token, err := f.token()
	if err != nil {
		return err
	}
	cert, err := f.certificate()
	if err != nil {
		return err
	}
	s, items, err := a.rewardService(ctx, f, which)
	if err != nil {
		return err
	}
	listener, err := rewardserver.Listen(ctx, f.listen, cert)
	if errors.Is(err, rewardserver.ErrNeedsTLS) {
		return usageError("--listen 127.0.0.1:0, or --tls-cert and --tls-key", "%v", err)
	}
	if err != nil {
		return usageError("another --listen, for example 127.0.0.1:0", "%v", err)
	}
	scheme := "http"
	if cert != nil {
		scheme = "https"
	}
	ready := rewardsReady{Event: "ready", URL: scheme + "://" + listener.Addr().String(), RewardConfig: s.Config(), Items: items, PID: os.Getpid()}
	if a.JSON() {
		err = json.NewEncoder(a.out).Encode(ready)
	} else {
		_, err = fmt.Fprintf(a.out, "url            %s\nreward_config  %s\nitems          %d\n", ready.URL, ready.RewardConfig, items)
	}
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	server := &http.Server{Handler: s.Handler(rewardserver.Access{Token: token, MaxBytes: f.maxMiB << 20}), ReadHeaderTimeout: 10 * time.Second}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { // requests in hand are answered
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		stopped <- server.Shutdown(end)
	})
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}

// rewardsReady is what `xragent serve --json` prints when it answers.
type rewardsReady struct {
	Event        string           `json:"event"` // "ready"
	URL          string           `json:"url"`
	RewardConfig artifacts.Digest `json:"reward_config"`
	Items        int              `json:"items"`
	PID          int              `json:"pid"`
}

// rewardService makes the service of a reproduction.
func (a *app) rewardService(ctx context.Context, f serveFlags, which string) (*rewardserver.Service, int, error) {
	store, err := a.openStore(ctx)
	if err != nil {
		return nil, 0, err
	}
	r, err := a.finishedReceipt(ctx, store, which)
	if err != nil {
		return nil, 0, err
	}
	if r.Questions.IsZero() {
		return nil, 0, usageError("`cxrepro run` a spec with an agent section first", "reproduction %s (%s) has no question set", r.Reproduction, r.Name)
	}
	var plan experiments.Plan
	var questions contract.Questions
	if err := errors.Join(readJSON(ctx, store, r.Plan, &plan), readJSON(ctx, store, r.Questions, &questions)); err != nil {
		return nil, 0, storeError(err)
	}
	arm, err := xragent.ArmOf(f.arm, xragent.Profile(plan.Spec.Agent.Profile))
	if err != nil {
		return nil, 0, &exitError{Code: exitUsage, Err: err}
	}
	v := readCodeVersion()
	code := provenance.Code{Version: v.Module, Commit: v.Revision, Dirty: v.Modified, Binary: v.Binary}
	owner := localhost.New().Owner(artifacts.Owner{Worker: "xragent serve"})
	acts, err := activities.New(activities.Options{
		Store: store, Owner: owner, Now: time.Now, Cache: filepath.Join(a.StateDir(), "cache"), Code: code, Environment: worker.Environment(),
		Endpoint: recordedEndpoint(),
	})
	if err != nil {
		return nil, 0, err
	}
	setting := plan.Spec.Agent.Reward.Setting()
	served := &servedItems{acts: acts, in: contract.RolloutInput{Plan: r.Plan, Questions: r.Questions, Reproduction: r.Reproduction, Arm: f.arm}, places: map[string]int{}}
	for i := range questions.Items {
		served.places[questions.Items[i].ID] = i
	}
	s, err := rewardserver.New(rewardserver.Options{
		Questions: questions.Items, Agent: arm.Agent, Setting: &setting, GroupSize: f.group, Measurements: served, Tools: served, Pictures: store,
		Records: &rewardserver.Records{Store: store, Class: datause.StoreClass(questions.DataUse), Owner: owner, Code: code, Environment: worker.Environment(), Now: time.Now},
	})
	if err != nil {
		return nil, 0, &exitError{Code: exitUsage, Err: err}
	}
	return s, len(questions.Items), nil
}

// recordedEndpoint answers lookups from the ledger alone: the service asks no model.
func recordedEndpoint() func(card string) (*activities.AskEndpoint, error) {
	e := &activities.AskEndpoint{Name: "recorded", Recorded: true, Gate: limit.New(limit.Options{Now: time.Now}), Attestation: datause.Attestation{Local: true}}
	e.Gate.Hold(time.Now().AddDate(100, 0, 0))
	return func(string) (*activities.AskEndpoint, error) { return e, nil }
}

// servedItems answers from the records and tools of a reproduction.
type servedItems struct {
	acts   *activities.Activities
	in     contract.RolloutInput
	places map[string]int
	// known are bundles by item and pictures; records do not change.
	known sync.Map
}

func (s *servedItems) of(item *xragent.Item) contract.RolloutInput {
	in := s.in
	in.Item = s.places[item.ID]
	return in
}

// Bundle implements rewardserver.Measurements.
func (s *servedItems) Bundle(ctx context.Context, item *xragent.Item, pictures []artifacts.Ref) (xragent.Bundle, error) {
	key := fmt.Sprint(item.ID, pictures)
	if b, ok := s.known.Load(key); ok {
		return b.(xragent.Bundle), nil
	}
	b, ok, err := s.acts.RecordedBundle(ctx, s.of(item), pictures)
	if err != nil {
		return b, err
	}
	if !ok {
		return b, rewardserver.ErrNotMeasured
	}
	s.known.Store(key, b)
	return b, nil
}

// Run implements rewardserver.Tools.
func (s *servedItems) Run(ctx context.Context, item *xragent.Item, c xragent.ToolCall, earlier []xragent.Observation) (xragent.Observation, error) {
	o, err := s.acts.RunTool(ctx, s.of(item), c, earlier)
	var call *lvlm.CallError
	if errors.As(err, &call) && call.Code == recorded.NotInLedger {
		return o, &rewardserver.Fault{Status: http.StatusConflict, Code: "lookup_not_recorded", Message: fmt.Sprintf("call %d of item %s: nobody looked these conditions up yet, and the service asks no model", c.Number, item.ID)}
	}
	return o, err
}
