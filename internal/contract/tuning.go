package contract

import "time"

// Tuning is how fast and how patiently a reproduction runs. It travels as workflow input,
// comes from flags, and enters no key.
type Tuning struct {
	// Page is the number of windows between two reconciliations of a stage.
	Page int `json:"page"`
	// Shard is the number of windows of one Stage workflow.
	Shard int `json:"shard"`
	// Shards is how many shards are worked on at a time.
	Shards int `json:"shards"`
	// InFlight is the number of chunk activities a stage has open.
	InFlight int `json:"in_flight"`
	// Events is the history length after which a paged workflow continues as new.
	Events int `json:"events"`
	// Chunk bounds one attempt of a chunk; what it finished stays.
	Chunk time.Duration `json:"chunk"`
	// Table bounds one attempt of reading tables, building a manifest or summarising.
	Table time.Duration `json:"table"`
	// Heartbeat is the heartbeat timeout of every activity.
	Heartbeat time.Duration `json:"heartbeat"`
	// Retry is the first pause before another attempt, RetryMax the longest.
	Retry    time.Duration `json:"retry"`
	RetryMax time.Duration `json:"retry_max"`
	// Calls is about calls to models.
	Calls CallTuning `json:"calls,omitzero"`
}

// DefaultTuning suits one machine.
func DefaultTuning() Tuning {
	return Tuning{
		Page: 128, Shard: 256, Shards: 2, InFlight: 8, Events: 2000,
		Chunk: 2 * time.Hour, Table: 6 * time.Hour, Heartbeat: 10 * time.Second,
		Retry: time.Second, RetryMax: time.Minute, Calls: defaultCalls,
	}
}

// WithDefaults replaces unset fields by those of DefaultTuning.
func (t Tuning) WithDefaults() Tuning {
	d := DefaultTuning()
	set := func(v *int, def int) {
		if *v <= 0 {
			*v = def
		}
	}
	dur := func(v *time.Duration, def time.Duration) {
		if *v <= 0 {
			*v = def
		}
	}
	set(&t.Page, d.Page)
	set(&t.Shard, d.Shard)
	set(&t.Shards, d.Shards)
	set(&t.InFlight, d.InFlight)
	set(&t.Events, d.Events)
	dur(&t.Chunk, d.Chunk)
	dur(&t.Table, d.Table)
	dur(&t.Heartbeat, d.Heartbeat)
	dur(&t.Retry, d.Retry)
	dur(&t.RetryMax, d.RetryMax)
	set(&t.Calls.Evaluations, d.Calls.Evaluations)
	set(&t.Calls.Tasks, d.Calls.Tasks)
	set(&t.Calls.Open, d.Calls.Open)
	dur(&t.Calls.Patience, d.Calls.Patience)
	dur(&t.Calls.Attempt, d.Calls.Attempt)
	dur(&t.Calls.Heartbeat, d.Calls.Heartbeat)
	return t
}
