package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"cxrepro/internal/attest"
)

func newKeysCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "keys",
		Short: "Make, show and change the key that signs",
		Long: `keys keeps the key with which this state folder signs what it reproduced: ed25519, in
<state>/keys, readable by its owner alone. It never leaves that folder. ` + "`run`" + ` signs every
reproduction that ends while there is a key, ` + "`export --format bundle`" + ` the bundle; ` + "`verify`" + `
says who signed, and whether you know that key (docs/bundles.md).

Exit codes: 0 done; 1 failed, also a key file that others may read; 2 usage.`,
		Args: cobra.NoArgs,
	}
	c.AddCommand(newKeysInitCommand(a), newKeysShowCommand(a), newKeysRotateCommand(a))
	return c
}

// keyFolder is where the key of this state folder is.
func (a *app) keyFolder() *attest.Folder {
	return attest.Open(filepath.Join(a.StateDir(), "keys"))
}

// signingKey returns the key that signs; nil where there is none.
func (a *app) signingKey() (*attest.Key, error) {
	key, err := a.keyFolder().Current()
	if errors.Is(err, attest.ErrNoKey) {
		return nil, nil
	}
	return key, err
}

func newKeysInitCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "Make the key",
		Long: `init makes the key of this state folder. What was reproduced before is signed by the same
` + "`cxrepro run`" + ` once more, or in a bundle.

With --json: {"keyid","line"}.

Exit codes: 0 done; 2 there is a key already.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			key, err := a.keyFolder().Init()
			if errors.Is(err, attest.ErrHaveKey) {
				return usageError("`cxrepro keys show` shows it, `cxrepro keys rotate` makes another one", "%v", err)
			}
			if err != nil {
				return err
			}
			return a.showKey(key.Public(), nil)
		},
	}
}

func newKeysShowCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show",
		Short: "Print the public key as a line for trust files",
		Long: `show prints the public half as a line that colleagues put into the file that they give to
` + "`verify --trust`" + `, and the ids of former keys.

With --json: {"keyid","line","former":[...]}.

Exit codes: 0 done; 2 there is no key.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			key, err := a.keyFolder().Current()
			if errors.Is(err, attest.ErrNoKey) {
				return usageError("make one with `cxrepro keys init`", "%v", err)
			}
			if err != nil {
				return err
			}
			all, err := a.keyFolder().Public()
			if err != nil {
				return err
			}
			delete(all, key.ID())
			return a.showKey(key.Public(), attest.IDs(all))
		},
	}
}

func newKeysRotateCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "rotate",
		Short: "Make another key and destroy the private half of this one",
		Long: `rotate makes a new key. The public half of the old one stays, so that what it signed is still
known here; its private half is destroyed. A private file that is damaged is kept beside it, with
.damaged after its name. Give the new line to those who trusted the old one.

With --json: {"keyid","line","former":[...]}.

Exit codes: 0 done; 2 there is no key.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			rotated, err := a.keyFolder().Rotate()
			if errors.Is(err, attest.ErrNoKey) {
				return usageError("make one with `cxrepro keys init`", "%v", err)
			}
			if err != nil {
				return err
			}
			if rotated.Kept != "" {
				a.say("the old private key was damaged; its file is now " + rotated.Kept)
			}
			return a.showKey(rotated.Now.Public(), []string{rotated.Before})
		},
	}
}

func (a *app) showKey(key attest.PublicKey, former []string) error {
	name, err := os.Hostname()
	if err != nil {
		name = "this machine"
	}
	line := key.Line("cxrepro on " + name)
	if a.JSON() {
		return a.printJSON(map[string]any{"keyid": key.ID(), "line": line, "former": append([]string{}, former...)})
	}
	fmt.Fprintln(a.out, line)
	a.say("key id " + key.ID())
	for _, id := range former {
		a.say("former key " + id)
	}
	return nil
}

// trusted are the signers that are known here: the keys of this state folder, and those of a
// trust file.
func (a *app) trusted(file string) (*attest.Trust, error) {
	trust := &attest.Trust{}
	own, err := a.keyFolder().Public()
	if err != nil {
		return nil, err
	}
	for _, key := range own {
		trust.Add(key, "this state folder")
	}
	if file == "" {
		return trust, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, usageError("give the file with the lines that `cxrepro keys show` prints", "--trust: %v", err)
	}
	if err := trust.Read(file, data); err != nil {
		return nil, usageError("a line is what `cxrepro keys show` prints", "--trust %v", err)
	}
	return trust, nil
}
