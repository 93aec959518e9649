package lineage

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/artifacts/manifest"
	"cxrepro/internal/contract"
	"cxrepro/internal/overlap"
)

// Entry is a record's document with its ref.
type Entry[T any] struct {
	Ref   artifacts.Ref
	Value T
}

// Training is what a store knows of trained weights. Weights and pictures of training sets are no
// results of steps, so no hop of an index leads through them.
type Training struct {
	Checkpoints []Entry[contract.Checkpoint]
	Sets        []Entry[contract.TrainingSet]
	// Batches are the rounds that were rolled out by us.
	Batches []Entry[contract.Batch]

	// pictures are those of the sets by place, read once.
	pictures []map[artifacts.Digest]bool
}

// Trains tells the explorer what was trained.
func (x *Explorer) Trains(t Training) { x.training = t }

// Trained reports whether a node is the weights of a checkpoint, or its entry.
func (x *Explorer) Trained(n *Node) bool {
	for _, c := range x.training.Checkpoints {
		if c.Value.Weights == n.Digest || c.Ref.Digest == n.Digest {
			return true
		}
	}
	return false
}

// trained are the checkpoints that weights are of; of others the index knows what it knows.
func (x *Explorer) trained(ctx context.Context, n *Node) (out []next, err error) {
	for _, c := range x.training.Checkpoints {
		if c.Value.Weights == n.Digest {
			out = append(out, next{checkpointNode(c), "checkpoint"})
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return x.hop(ctx, n, Down)
}

func checkpointNode(c Entry[contract.Checkpoint]) Node {
	return Node{Kind: KindCheckpoint, Digest: c.Ref.Digest, Title: c.Value.Name}.identify()
}

// checkpointOf is the entry of a node.
func (x *Explorer) checkpointOf(n *Node) (out contract.Checkpoint, ok bool) {
	for _, c := range x.training.Checkpoints {
		if c.Ref.Digest == n.Digest {
			return c.Value, true
		}
	}
	return out, false
}

// begun is what a checkpoint was trained on, what it was trained from, and what the training was told.
func (x *Explorer) begun(ctx context.Context, n *Node) ([]next, error) {
	c, ok := x.checkpointOf(n)
	if !ok {
		return x.hop(ctx, n, Down)
	}
	var out []next
	if s, ok := x.setNode(c.Training.Digest); ok {
		out = append(out, next{s, "trained on"})
	}
	for _, from := range []struct {
		weights artifacts.Digest
		name    string
	}{{c.Parent, "parent"}, {c.BaseWeights, "base"}} {
		if from.weights.IsZero() {
			continue
		}
		w, err := x.weightsNode(ctx, from.weights)
		if err != nil {
			return nil, err
		}
		out = append(out, next{w, from.name})
	}
	recipe, err := x.artifact(ctx, c.Recipe.Digest)
	recipe.at.leaf = true // it names all data, also what later checkpoints were shown
	return append(out, next{recipe, "recipe"}), err
}

func (x *Explorer) weightsNode(ctx context.Context, weights artifacts.Digest) (Node, error) {
	n, err := x.artifact(ctx, weights)
	if n.Digest.IsZero() {
		n.Digest = weights
	}
	if n.Kind != KindModel {
		n.Kind, n.Title = KindModel, "weights"
		n = n.identify()
	}
	if err != nil {
		return n, err
	}
	for _, c := range x.training.Checkpoints {
		if c.Value.Weights == weights {
			n.Title = "weights of " + c.Value.Name
		}
	}
	return n, nil
}

// gave are the weights of a checkpoint, and the checkpoints that were trained from these.
func (x *Explorer) gave(ctx context.Context, n *Node) ([]next, error) {
	c, ok := x.checkpointOf(n)
	if !ok {
		return x.using(ctx, n)
	}
	w, err := x.weightsNode(ctx, c.Weights)
	if err != nil {
		return nil, err
	}
	out := []next{{w, "checkpoint"}}
	for _, child := range x.training.Checkpoints {
		if child.Value.Parent == c.Weights {
			out = append(out, next{checkpointNode(child), "parent"})
		}
	}
	return out, nil
}

// setNode is the node of a training set.
func (x *Explorer) setNode(set artifacts.Digest) (Node, bool) {
	for _, s := range x.training.Sets {
		if s.Ref.Digest == set {
			return Node{Kind: KindTrainingSet, Digest: set, Title: fmt.Sprintf("%s, %d examples", s.Value.Name, s.Value.Count)}.identify(), true
		}
	}
	return Node{}, false
}

// shown are the examples of a training set: rollouts where it is the batch of a round.
func (x *Explorer) shown(ctx context.Context, n *Node) (out []next, err error) {
	for i := range x.training.Sets {
		if x.training.Sets[i].Ref.Digest == n.Digest {
			rows, err := x.examples(ctx, &x.training.Sets[i])
			return under("example", rows...), err
		}
	}
	return x.hop(ctx, n, Down)
}

// examples are the rows of a training set.
func (x *Explorer) examples(ctx context.Context, s *Entry[contract.TrainingSet]) (out []Node, err error) {
	var page contract.RolloutsDoc
	for _, b := range x.training.Batches {
		if b.Value.Trained.Digest != s.Ref.Digest {
			continue
		}
		if page, err = read[contract.RolloutsDoc](ctx, x.docs, b.Value.Rollouts); err != nil {
			return nil, err
		}
	}
	list, err := manifest.Open(ctx, x.docs, s.Value.Examples)
	if err != nil {
		return nil, err
	}
	err = list.Each(ctx, 0, list.Total(), func(at int64, item json.RawMessage) error {
		var e contract.TrainingExample
		if err := json.Unmarshal(item, &e); err != nil {
			return err
		}
		row := Node{Kind: KindExample, Digest: s.Ref.Digest, Title: fmt.Sprintf("%s, example %d", s.Value.Name, at)}.row(strconv.FormatInt(at, 10))
		row.at.example = &example{set: s.Ref.Digest, images: e.Images}
		if i := int(at); i < len(page.Rollouts) {
			d := &page.Rollouts[i]
			row.Kind, row.Title = KindRollout, fmt.Sprintf("%s, rollout %d: item %d, %s", s.Value.Name, at, d.Item, d.Ending)
			row.ID = string(KindRollout) + strings.TrimPrefix(row.ID, string(KindExample))
			row.at.example.rollout = d
		}
		row.Digest = e.Example
		out = append(out, row)
		return nil
	})
	return out, err
}

// example is a row of a training set.
type example struct {
	set     artifacts.Digest
	images  []artifacts.Digest
	rollout *contract.RolloutDoc
}

// restsOn are the pictures of an example, and of a rollout its calls, what tools answered and what
// was measured.
func (x *Explorer) restsOn(ctx context.Context, n *Node) ([]next, error) {
	e := n.at.example
	if e == nil {
		return nil, nil
	}
	var out []next
	for _, image := range e.images {
		p, err := x.picture(ctx, image)
		if err != nil {
			return nil, err
		}
		out = append(out, next{p, "image"})
	}
	if e.rollout == nil {
		return out, nil
	}
	var keys []artifacts.Digest
	for _, c := range e.rollout.Calls {
		keys = append(keys, c.Key)
	}
	calls, err := x.Calls(ctx, keys)
	if err != nil {
		return nil, err
	}
	out = append(out, under("call", calls...)...)
	for _, t := range e.rollout.Tools {
		o, err := x.artifact(ctx, t.Result.Digest)
		if err != nil {
			return nil, err
		}
		out = append(out, next{o, "tool"})
	}
	for _, m := range e.rollout.Measured {
		o, err := x.artifact(ctx, m.Digest)
		if err != nil {
			return nil, err
		}
		out = append(out, next{o, "measurement"})
	}
	return out, nil
}

// picture is a training picture, which no step may have used under a name that tells.
func (x *Explorer) picture(ctx context.Context, image artifacts.Digest) (Node, error) {
	n, err := x.artifact(ctx, image)
	if n.Digest.IsZero() {
		n.Digest = image
	}
	if n.Kind == KindArtifact {
		n.Kind, n.Title = KindPicture, "picture"
		n = n.identify()
	}
	return n, err
}

// Pictures are the training pictures whose digest begins with some digits.
func (x *Explorer) Pictures(ctx context.Context, digits string) (out []Node, err error) {
	seen := map[artifacts.Digest]bool{}
	for i := range x.training.Sets {
		have, err := x.picturesOf(ctx, i)
		if err != nil {
			return nil, err
		}
		for _, d := range sortedKeys(have) {
			if !seen[d] && strings.HasPrefix(d.Hex(), digits) {
				seen[d] = true
				n, err := x.picture(ctx, d)
				if err != nil {
					return nil, err
				}
				out = append(out, n)
			}
		}
	}
	return out, nil
}

// picturesOf are the pictures of a set by its place.
func (x *Explorer) picturesOf(ctx context.Context, at int) (map[artifacts.Digest]bool, error) {
	t := &x.training
	if t.pictures == nil {
		t.pictures = make([]map[artifacts.Digest]bool, len(t.Sets))
	}
	if t.pictures[at] != nil {
		return t.pictures[at], nil
	}
	have := map[artifacts.Digest]bool{}
	list, err := manifest.Open(ctx, x.docs, t.Sets[at].Value.Images.List)
	if err != nil {
		return nil, err
	}
	err = list.Each(ctx, 0, list.Total(), func(_ int64, item json.RawMessage) error {
		var m overlap.Image
		err := json.Unmarshal(item, &m)
		have[m.Image] = true
		return err
	})
	t.pictures[at] = have
	return have, err
}

// taught are the examples that descend from a picture.
func (x *Explorer) taught(ctx context.Context, n *Node) ([]next, error) {
	var out []next
	for i := range x.training.Sets {
		have, err := x.picturesOf(ctx, i)
		if err != nil {
			return nil, err
		}
		if !have[n.Digest] {
			continue
		}
		rows, err := x.examples(ctx, &x.training.Sets[i])
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			for _, image := range row.at.example.images {
				if image == n.Digest {
					out = append(out, next{row, "image"})
				}
			}
		}
	}
	return out, nil
}

// inSet is the training set of an example.
func (x *Explorer) inSet(_ context.Context, n *Node) ([]next, error) {
	if e := n.at.example; e != nil {
		if s, ok := x.setNode(e.set); ok {
			return []next{{s, "example"}}, nil
		}
	}
	return nil, nil
}

// taughtTo are the checkpoints that were trained on a set.
func (x *Explorer) taughtTo(_ context.Context, n *Node) (out []next, err error) {
	for _, c := range x.training.Checkpoints {
		if c.Value.Training.Digest == n.Digest {
			out = append(out, next{checkpointNode(c), "trained on"})
		}
	}
	return out, nil
}
