package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/viewcheck"
	"cxrepro/internal/xragent"
	"cxrepro/worker"
)

// pinAgent reads and stores what an agent section names: policies, reference book, view model,
// calibration.
func (a *app) pinAgent(ctx context.Context, store *artifacts.Repository, spec *experiments.Spec, dir string, f planFlags, pins *experiments.Pins) error {
	var err error
	if pins.Models, err = trainedCards(spec, pins.Training, func(name string) (*experiments.ModelCard, error) { return a.pinCard(dir, name, f) }); err != nil {
		return err
	}
	if name := spec.Agent.Lookup; name != "" {
		if pins.Lookup, err = a.pinCard(dir, name, f); err != nil {
			return err
		}
	}
	if name := spec.Agent.View; name != "" {
		if pins.View, err = a.pinView(ctx, store, beside(dir, name), spec.Masks.Provider); err != nil {
			return err
		}
	}
	if name := spec.Agent.Calibration; name != "" {
		pins.Calibration, err = pinCalibration(ctx, store, beside(dir, name))
	}
	return err
}

// calibrationMediaType is that of the limits of profile calibrated.
const calibrationMediaType = "application/vnd.cxrepro.calibration+json"

// pinCalibration stores limits in their canonical form.
func pinCalibration(ctx context.Context, store *artifacts.Repository, path string) (artifacts.Ref, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return artifacts.Ref{}, usageError("agent.calibration names a stored calibration, relative to the spec", "calibration: %v", err)
	}
	c, err := xragent.DecodeCalibration(data)
	if err == nil {
		data, err = c.Encode()
	}
	if err != nil {
		return artifacts.Ref{}, usageError("correct the calibration; nothing was started", "%s: %v", path, err)
	}
	ref, err := store.Put(ctx, data, calibrationMediaType)
	if err != nil {
		return ref, storeError(err)
	}
	return ref, nil
}

// pinView stores card and weights of a view model.
func (a *app) pinView(ctx context.Context, store *artifacts.Repository, path, provider string) (*experiments.Model, error) {
	card, err := viewcheck.LoadCard(path)
	if err == nil {
		_, err = card.Model()
	}
	if err != nil {
		return nil, &exitError{Code: exitUsage, Err: err, Hint: "agent.view names a view card, relative to the spec, such as ../models/phantomview.yaml"}
	}
	id, err := worker.ViewIdentity(card, provider)
	if err != nil {
		return nil, usageError("correct masks.provider", "%v", err)
	}
	m := &experiments.Model{Name: card.Name, Settings: id.Settings, Preprocessing: id.Preprocessing}
	if err := storeModel(ctx, store, m, path, card.File, id.Model); err != nil {
		return nil, err
	}
	if notice := card.Licence.Notice; notice != "" {
		a.say(fmt.Sprintf("view model %s (%s): %s", card.Name, card.Licence.Name, strings.TrimSpace(notice)))
	}
	return m, nil
}
