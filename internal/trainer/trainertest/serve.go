package trainertest

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"cxrepro/artifacts"
)

// serve answers chat completions as the checkpoints of folders, by the digest of their weights.
// A reply depends on weights and request alone.
func serve(args []string) error {
	var folders []string
	for i := 1; i+1 < len(args); i += 2 {
		folders = append(folders, args[i+1])
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+args[0])
	if err != nil {
		return err
	}
	latency, err := time.ParseDuration(cmp.Or(os.Getenv(LatencyEnv), "0s"))
	if err != nil {
		return fmt.Errorf("%s: %w", LatencyEnv, err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		type model struct {
			ID string `json:"id"`
		}
		list := []model{}
		for _, d := range served(folders) {
			list = append(list, model{d})
		}
		reply(w, map[string]any{"data": list})
	})
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		var q map[string]any
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		name, _ := q["model"].(string)
		if !slices.Contains(served(folders), name) {
			http.Error(w, `{"error":{"code":"model_not_found","message":"no such weights"}}`, http.StatusNotFound)
			return
		}
		if err := count(q); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		time.Sleep(latency)
		text, finish := speak(q)
		reply(w, map[string]any{"id": "fake", "object": "chat.completion", "created": 0, "model": name,
			"choices": []any{map[string]any{"index": 0, "finish_reason": finish, "message": map[string]any{"role": "assistant", "content": text}}},
			"usage":   map[string]any{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}})
	})
	fmt.Fprintln(os.Stderr, "serving on", l.Addr())
	return http.Serve(l, mux)
}

// CountEnv names a file that gets a line for every request that is answered: its digest.
const CountEnv = "CXREPRO_FAKE_REQUESTS"

// LatencyEnv is how long every answer takes, beside all others.
const LatencyEnv = "CXREPRO_FAKE_LATENCY"

func count(q map[string]any) error {
	path := os.Getenv(CountEnv)
	if path == "" {
		return nil
	}
	all, err := json.Marshal(q)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, artifacts.Sum(all))
	return errors.Join(err, f.Close())
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // who asked is gone
}

// served are the digests of the weights in folders.
func served(folders []string) []string {
	var out []string
	for _, f := range folders {
		names, _ := filepath.Glob(filepath.Join(f, "checkpoint-*", "model.safetensors")) // the pattern is fine
		for _, name := range names {
			if data, err := os.ReadFile(name); err == nil {
				out = append(out, artifacts.Sum(data).String())
			}
		}
	}
	return out
}

// speak is a policy that looks at nothing: no tool, then an answer that follows from the
// request's digest.
func speak(q map[string]any) (text, finish string) {
	all, _ := json.Marshal(q) // it was decoded a moment ago
	messages, _ := q["messages"].([]any)
	if len(messages) < 3 {
		return "<think>a look is enough</think><no_tool/>", "stop"
	}
	return fmt.Sprintf("<think>as it seems</think><answer>%c</answer>", 'A'+sha256.Sum256(all)[0]%4), "stop"
}
