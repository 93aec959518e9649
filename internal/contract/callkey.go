package contract

import (
	"crypto/sha256"
	"fmt"
	"strconv"

	"cxrepro/artifacts"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/lvlm"
)

// Steps of evaluations.
const (
	// StepCall is a model call that gave an answer, StepCallOutcome one that ended without.
	StepCall        = "call"
	StepCallOutcome = "call-outcome"
	// StepPreparePicture turns a picture into the bytes that are sent.
	StepPreparePicture = "prepare-picture"
)

const (
	versionCall           = 1
	versionPreparePicture = 1
)

// CallKey is the key of a model call: the model by content, the adapter and the picture rule
// with their versions, every decoding parameter that is sent, the draw, and one input for each
// message and each picture as it is sent. Inputs are named by place and side, such as 03.user
// and 03.user.picture.0, so that a comparison of two keys says which message differs.
//
// Where the model runs, under which name and with which credential is no part of it.
//
// Errors: a request without a model, an adapter or a picture rule, or a transcript that cannot
// be sent.
func CallKey(r lvlm.Request) (artifacts.KeyDoc, error) {
	id := r.Model
	switch {
	case r.Adapter == "" || r.Pictures == "":
		return artifacts.KeyDoc{}, fmt.Errorf("key of a call: adapter %q and picture rule %q are both needed", r.Adapter, r.Pictures)
	case id.Weights.IsZero() && (id.Provider == "" || id.Snapshot == ""):
		return artifacts.KeyDoc{}, fmt.Errorf("key of a call: the model is named neither by its weights nor by provider and snapshot")
	case r.Draw < 0:
		return artifacts.KeyDoc{}, fmt.Errorf("key of a call: draw %d", r.Draw)
	}
	if err := r.Transcript.Validate(); err != nil {
		return artifacts.KeyDoc{}, fmt.Errorf("key of a call: %w", err)
	}
	doc := artifacts.KeyDoc{
		Step: StepCall, Version: versionCall,
		Params: map[string]any{
			"model": id, "adapter": r.Adapter, "pictures": r.Pictures, "decoding": r.Decoding, "draw": r.Draw,
		},
		Inputs: make([]artifacts.Material, 0, 2*len(r.Transcript.Messages)),
	}
	for i, m := range r.Transcript.Messages {
		name := messageName(i, m.Role)
		doc.Inputs = append(doc.Inputs, artifacts.Material{Name: name, Digest: MessageDigest(m)})
		for k, ref := range m.Images() {
			doc.Inputs = append(doc.Inputs, artifacts.Material{Name: name + ".picture." + strconv.Itoa(k), Digest: ref.Digest})
		}
	}
	return doc, nil
}

func messageName(i int, r dialogue.Role) string {
	text := strconv.Itoa(i)
	if i < 10 {
		text = "0" + text
	}
	return text + "." + r.String()
}

// MessageDigest is the digest of a message's side and texts. Lengths keep two texts apart from
// one; pictures are inputs of their own. Where a text stands after a picture the places of the
// pictures are part of it; where all texts come first nothing needs to be said of them.
func MessageDigest(m dialogue.Message) artifacts.Digest {
	h, mixed := sha256.New(), !m.TextsFirst()
	h.Write([]byte(m.Role.String()))
	for _, p := range m.Parts {
		switch {
		case p.Image == nil:
			h.Write([]byte("\n" + strconv.Itoa(len(p.Text)) + ":"))
			h.Write([]byte(p.Text))
		case mixed:
			h.Write([]byte("\npicture"))
		}
	}
	var d artifacts.Digest
	h.Sum(d[:0])
	return d
}

// CallOutcomeKey is the key of the terminal outcome of a call in a round of asking; rounds
// after the first ask again what ended without an answer.
func CallOutcomeKey(call artifacts.KeyDoc, round int) artifacts.KeyDoc {
	params := make(map[string]any, len(call.Params)+1)
	for name, v := range call.Params {
		params[name] = v
	}
	params["round"] = round
	return artifacts.KeyDoc{Step: StepCallOutcome, Version: call.Version, Params: params, Inputs: call.Inputs}
}

// PreparePictureKey is the key of a picture as one rule, with its version, sends it. What the
// picture is declared as is part of it: a rule may pass that on.
func PreparePictureKey(picture artifacts.Ref, rule string) artifacts.KeyDoc {
	return artifacts.KeyDoc{
		Step: StepPreparePicture, Version: versionPreparePicture,
		Params: map[string]any{"rule": rule, "type": picture.MediaType},
		Inputs: []artifacts.Material{{Name: "picture", Digest: picture.Digest}},
	}
}
