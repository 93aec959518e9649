package rewardserver

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Access says who may ask, and how much at once.
type Access struct {
	// Token must come with every request but that for health.
	Token string
	// MaxBytes bounds a request; 0 is DefaultMaxBytes.
	MaxBytes int64
}

// DefaultMaxBytes holds 256 samples of 256 KiB.
const DefaultMaxBytes = 64 << 20

// Handler serves POST /v1/rewards, POST /v1/observations, GET /v1/config, GET /v1/groups and GET
// /healthz.
func (s *Service) Handler(a Access) http.Handler {
	if a.MaxBytes == 0 {
		a.MaxBytes = DefaultMaxBytes
	}
	mux := http.NewServeMux()
	route := func(method, path string, serve func(r *http.Request) (any, error)) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if r.Method != method {
				w.Header().Set("Allow", method)
				(&Fault{Status: http.StatusMethodNotAllowed, Code: "method", Message: "want " + method}).write(w)
				return
			}
			if path != "/healthz" && !a.admits(r) {
				(&Fault{Status: http.StatusUnauthorized, Code: "token", Message: "the request brings no bearer token, or another one"}).write(w)
				return
			}
			r.Body = http.MaxBytesReader(w, r.Body, a.MaxBytes)
			reply, err := serve(r)
			if err != nil {
				faultOf(err).write(w)
				return
			}
			body, err := marshal(reply)
			if err != nil {
				(&Fault{Status: http.StatusInternalServerError, Code: "reply", Message: err.Error()}).write(w)
				return
			}
			send(w, http.StatusOK, body)
		})
	}
	route(http.MethodPost, "/v1/rewards", func(r *http.Request) (any, error) {
		var in RewardRequest
		if err := decode(r.Body, &in); err != nil {
			return nil, err
		}
		return s.Rewards(r.Context(), &in)
	})
	route(http.MethodPost, "/v1/observations", func(r *http.Request) (any, error) {
		var in ObserveRequest
		if err := decode(r.Body, &in); err != nil {
			return nil, err
		}
		return s.Observe(r.Context(), &in)
	})
	route(http.MethodGet, "/v1/config", func(*http.Request) (any, error) { return s.about(), nil })
	route(http.MethodGet, "/v1/groups", s.recordedGroups)
	route(http.MethodGet, "/healthz", func(*http.Request) (any, error) { return map[string]string{"status": "ok"}, nil })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		(&Fault{Status: http.StatusNotFound, Code: "unknown_url", Message: "there is no " + r.URL.Path + " here"}).write(w)
	})
	return mux
}

// admits compares the token without telling how much of it is right.
func (a Access) admits(r *http.Request) bool {
	got, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	x, y := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(a.Token))
	return ok && a.Token != "" && subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// Config is the reply to GET /v1/config.
type Config struct {
	Schema       int            `json:"schema"`
	RewardConfig string         `json:"reward_config"`
	Setting      map[string]any `json:"setting"`
	Agent        map[string]any `json:"agent"`
	GroupSize    int            `json:"group_size"`
	Items        int            `json:"items"`
	MostSamples  int            `json:"most_samples"`
	Observations bool           `json:"observations"`
}

func (s *Service) about() Config {
	return Config{
		Schema: Schema, RewardConfig: s.config.String(), Agent: s.o.Agent.Identity(), GroupSize: s.o.GroupSize, Items: len(s.items),
		MostSamples: MostSamples, Observations: s.o.Tools != nil, Setting: s.setting.Identity(),
	}
}

// MostGroups is how many groups one reply of GET /v1/groups tells of.
const MostGroups = 4096

// GroupReport is the reply to GET /v1/groups: what the records of a run say of its groups.
type GroupReport struct {
	RunID      string  `json:"run_id"`
	Samples    int     `json:"samples"`
	Groups     []Group `json:"groups"`
	Complete   int     `json:"complete"`
	Degenerate int     `json:"degenerate"` // of the complete ones
}

func (s *Service) recordedGroups(r *http.Request) (any, error) {
	q := r.URL.Query()
	run := q.Get("run_id")
	if run == "" {
		return nil, schemaFault("run_id", "is missing: GET /v1/groups?run_id=RUN&step=N")
	}
	step := -1
	if text := q.Get("step"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return nil, schemaFault("step", "is %q, want a number", text)
		}
		step = n
	}
	list, err := s.o.Records.notes(r.Context(), run, step)
	if err != nil {
		return nil, err
	}
	out := GroupReport{RunID: run, Samples: len(list), Groups: groupsOf(list, s.o.GroupSize)}
	if len(out.Groups) > MostGroups {
		return nil, &Fault{Status: http.StatusUnprocessableEntity, Code: "too_many_groups", Field: "step", Message: fmt.Sprintf("the run has %d groups, more than %d: ask for one step", len(out.Groups), MostGroups)}
	}
	for _, g := range out.Groups {
		if g.Complete {
			out.Complete++
			if g.Degenerate {
				out.Degenerate++
			}
		}
	}
	return out, nil
}
