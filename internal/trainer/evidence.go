package trainer

import (
	"fmt"
	"os"
	"path/filepath"

	"cxrepro/artifacts"
)

// Gather reads what a segment is judged by out of the job's folder: the newest complete
// checkpoint, or that of the target where it is there, the events and the starts. samples are
// the rollouts that were recorded. The checkpoint is nil when none is complete.
func (j *Job) Gather(samples []Sample, digest WeightsDigest) (Evidence, *Checkpoint, error) {
	e := Evidence{Spec: j.Spec, Segment: j.Segment, Silent: j.Recipe.Silent, Samples: samples,
		Begin: j.Recipe.Target(j.Spec, j.Segment.From), Target: j.Recipe.Target(j.Spec, j.Segment.To)}
	data, err := os.ReadFile(filepath.Join(j.Folder, "schedule.jsonl"))
	if err != nil {
		return e, nil, err
	}
	if got := artifacts.Sum(data); got != j.Spec.Schedule {
		return e, nil, &MismatchError{File: filepath.Join(j.Folder, "schedule.jsonl"), Detail: fmt.Sprintf("it is %s, and the spec names %s", got.Short(), j.Spec.Schedule.Short())}
	}
	if e.Schedule, err = DecodeSchedule(data); err != nil {
		return e, nil, err
	}
	if e.Events, err = ReadEvents(filepath.Join(j.Folder, EventsName)); err != nil {
		return e, nil, err
	}
	starts, err := j.Starts()
	if err != nil {
		return e, nil, err
	}
	for _, s := range starts {
		e.Attempts = append(e.Attempts, s.Attempt)
	}
	at, err := j.reached(&e.Reached, digest)
	return e, at, err
}

// reached reads the checkpoint that a segment is judged by.
func (j *Job) reached(r *Reached, digest WeightsDigest) (*Checkpoint, error) {
	list, err := j.List()
	if err != nil {
		return nil, err
	}
	at, torn := Newest(list)
	for i := range list {
		if list[i].Step == j.Segment.To && list[i].Torn == "" {
			at, torn = &list[i], nil
		}
	}
	if torn != nil {
		r.Torn = torn.Torn
	}
	if at == nil || at.Step < j.Segment.From {
		r.Step, r.Counter, r.Weights = j.Segment.From, j.Recipe.Target(j.Spec, j.Segment.From), j.Segment.Weights
		return nil, nil
	}
	_, weights, err := at.Hash(j.CheckpointsFolder())
	if err != nil {
		return nil, err
	}
	r.Step, r.Counter = at.Step, at.Counter
	r.Weights, err = digest(weights)
	return at, err
}

// WriteFiles puts plan.json, schedule.jsonl and files into a run's folder. Equal ones stay; a
// plan of another run is refused.
func (j *Job) WriteFiles(schedule []byte, files map[string][]byte) error {
	p, err := j.Spec.Plan()
	if err != nil {
		return err
	}
	text, err := artifacts.Canonical(p)
	if err != nil {
		return err
	}
	path := filepath.Join(j.Folder, "plan.json")
	if have, err := os.ReadFile(path); err == nil {
		if old, err := DecodePlan(have); err != nil || old.Run != p.Run {
			return &MismatchError{File: path, Detail: fmt.Sprintf("it is of run %s, and the spec is run %s", old.Run.Short(), p.Run.Short())}
		}
	}
	if artifacts.Sum(schedule) != j.Spec.Schedule {
		return fmt.Errorf("schedule.jsonl is %s, and the spec names %s", artifacts.Sum(schedule).Short(), j.Spec.Schedule.Short())
	}
	if err := j.put("schedule.jsonl", schedule); err != nil {
		return err
	}
	for name, data := range files {
		if err := j.put(name, data); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(j.CheckpointsFolder(), 0o700); err != nil {
		return err
	}
	return j.put("plan.json", append(text, '\n'))
}

// put writes a file of the run's folder, unless an equal one is there.
func (j *Job) put(name string, data []byte) error {
	if !local(name) {
		return fmt.Errorf("file %q leads out of the run's folder", name)
	}
	path := filepath.Join(j.Folder, filepath.FromSlash(name))
	if info, err := os.Stat(path); err == nil && info.Size() == int64(len(data)) {
		if f, err := hashFile(path, name); err == nil && f.Digest == artifacts.Sum(data) {
			return nil
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return replaceFile(path, data)
}
