package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
)

// dataMemory is where data roots of the last run are noted, for verbs that read pictures
// later. It holds paths of this machine and nothing else.
const dataMemory = "data.json"

// rememberData notes the folders that a worker here was given.
func (a *app) rememberData(roots []dataRoot) {
	known := map[string]string{}
	path := filepath.Join(a.StateDir(), "cache", dataMemory)
	if data, err := os.ReadFile(path); err == nil {
		// A damaged note is written anew.
		_ = json.Unmarshal(data, &known)
	}
	for _, r := range roots {
		known[r.name] = r.path
	}
	data, err := json.MarshalIndent(known, "", "  ")
	if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, append(data, '\n'), 0o600))
	}
	if err != nil {
		a.say("the data folders were not noted: " + err.Error())
	}
}

// rememberedData returns the noted folders that are still there.
func (a *app) rememberedData() []dataRoot {
	known := map[string]string{}
	data, err := os.ReadFile(filepath.Join(a.StateDir(), "cache", dataMemory))
	if err != nil || json.Unmarshal(data, &known) != nil {
		return nil
	}
	var roots []dataRoot
	for name, path := range known {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			roots = append(roots, dataRoot{name, path})
		}
	}
	return roots
}
