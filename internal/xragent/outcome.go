package xragent

import "fmt"

// Outcome is what became of one item in one configuration and one repeat: the form in which
// score tables and analyses read rollouts. It holds no pictures and no texts but the reply.
type Outcome struct {
	// Item is the item's ID.
	Item string `json:"item"`
	// Config is the named configuration that it counts in, for example "xr.default"; Arm says how
	// the agent ran and Policy which model answered.
	Config string `json:"config"`
	Arm    string `json:"arm,omitempty"`
	Policy string `json:"policy,omitempty"`
	// Repeat counts from 0; repeats differ in the seed alone.
	Repeat int `json:"repeat"`
	// Reply is the last assistant message as it came, which scorers read; empty where there is
	// none, and of results that were made elsewhere.
	Reply string `json:"reply,omitempty"`
	// Answer is the answer as read, normalised by type. Unparsed says that none could be read: the
	// item is wrong and counted apart.
	Answer   string `json:"answer,omitempty"`
	Unparsed bool   `json:"unparsed,omitempty"`
	Correct  bool   `json:"correct"`
	// Undetermined: the endpoint or the machine failed and nobody knows the answer; the item is in
	// no denominator. Why is the code of what failed.
	Undetermined bool   `json:"undetermined,omitempty"`
	Why          string `json:"why,omitempty"`
	// Ending is how the rollout ended, or the terminal outcome of the call that ended it.
	Ending string `json:"ending,omitempty"`
	// Calls are the names of the tools that the policy called, in order and with repeats, run or
	// not (R_tool).
	Calls []string `json:"calls,omitempty"`
	// Gated says that the gate decided on a bundle. Withheld is its reason; empty where the bundle
	// was shown. ViewOK says that a picture passed the view check, whether or not its masks did.
	Gated    bool   `json:"gated,omitempty"`
	Withheld string `json:"withheld,omitempty"`
	ViewOK   bool   `json:"view_ok,omitempty"`
	// External marks a result that was made elsewhere and read from a file.
	External bool `json:"external,omitempty"`
}

// MaxRepeats is the most repeats that an evaluation has. Draws of a training are repeats too and
// go on counting from round to round.
const MaxRepeats = 64

// Validate refuses an outcome that contradicts itself.
func (o Outcome) Validate() error {
	fail := func(why string) error {
		return fmt.Errorf("outcome of %q in %q, repeat %d: %s", o.Item, o.Config, o.Repeat, why)
	}
	switch {
	case o.Item == "" || o.Config == "":
		return fail("item and config are needed")
	case o.Repeat < 0:
		return fail("repeats count from 0")
	case o.Undetermined && (o.Correct || o.Unparsed || o.Answer != ""):
		return fail("undetermined, yet it has an answer")
	case o.Unparsed && (o.Correct || o.Answer != ""):
		return fail("unparsed, yet it has an answer")
	case o.Correct && o.Answer == "":
		return fail("correct without an answer")
	case o.Withheld != "" && !o.Gated:
		return fail("a bundle was withheld that nobody decided on")
	}
	return nil
}
