package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cxrepro/activities"
	"cxrepro/internal/datause"
	"cxrepro/internal/lvlm/endpoint"
	"cxrepro/internal/process"
	"cxrepro/internal/trainer"
)

// equipTraining makes a worker train and serve what a plan trains, in a folder that it holds alone.
// Its task queues are the experiment's own: the policy is answered by the server beside it.
func (a *app) equipTraining(p *planned, f *workerFlags, t trainerFlags) (unlock func() error, err error) {
	if f.onlyRecorded {
		return nil, usageError("leave --recorded out: what is recorded of a training is found, and no trainer is started for it", "--recorded does not go with a training section")
	}
	folder, err := filepath.Abs(filepath.Join(a.StateDir(), "training", p.id))
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	lock, err := process.TryLock(filepath.Join(folder, "command.lock"))
	if errors.Is(err, process.ErrLocked) {
		return nil, &exitError{Code: exitFailed, Err: fmt.Errorf("training of %s is under way in another process", p.spec.Name), Hint: "wait for that one, or end it and go on here"}
	}
	if err != nil {
		return nil, err
	}
	address, err := freePort()
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	var environment []string
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "CUDA_VISIBLE_DEVICES"} {
		if value, ok := os.LookupEnv(name); ok {
			environment = append(environment, name+"="+value)
		}
	}
	values, err := t.filled()
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	f.queue += "-" + p.id
	f.training = &activities.Training{
		Work: folder, Recipes: t.recipes, Values: values, Environment: environment,
		Server: &trainer.Server{Address: address, Log: filepath.Join(folder, "server.log"), State: filepath.Join(folder, "server.json"), Values: values, Environment: environment},
	}
	models := map[string]string{}
	for _, name := range trainedNames(p.doc) {
		models[name] = name
	}
	set := &endpoint.Set{}
	if f.served != nil {
		*set = *f.served
	}
	set.Endpoints = append(append([]endpoint.Card{}, set.Endpoints...), endpoint.Card{
		Name: "training", Adapter: "openai", URL: "http://" + address + "/v1/", Models: models,
		Limits: endpoint.Limits{Concurrency: 4, Timeout: time.Minute}, Attestation: datause.Attestation{Local: true},
	})
	f.served = set
	return lock.Close, nil
}

// freePort is an address of this machine where nobody listens.
func freePort() (string, error) {
	n, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return n.Addr().String(), n.Close()
}

// cutPair splits NAME=VALUE.
func cutPair(text string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(text, "=")
	return name, value, ok && name != ""
}
