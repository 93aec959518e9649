package radcot_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cxrepro/internal/xragent/radcot"
)

// readBack prints the rows of a Parquet file as one JSON list, and its nested types.
const readBack = `
import json, sys, pyarrow.parquet as pq
t = pq.read_table(sys.argv[1])
print(json.dumps({"rows": t.to_pylist(), "types": {f.name: str(f.type) for f in t.schema}}))
`

// TestPyArrow reads the Parquet files with the library that trainers use. It needs a Python that
// has it: CXREPRO_PYARROW names the interpreter (task radcot:pyarrow).
func TestPyArrow(t *testing.T) {
	python := os.Getenv("CXREPRO_PYARROW")
	if python == "" {
		t.Skip("CXREPRO_PYARROW names no Python with pyarrow")
	}
	b, _ := whole(t)
	type message struct{ Role, Content string }
	var got struct {
		Rows []struct {
			Messages, Prompt []message
			Images           []struct{ Image string }
			Reward           struct {
				Style string
				Truth string `json:"ground_truth"`
			} `json:"reward_model"`
			Extra struct {
				Item  string `json:"item_id"`
				Index int
			} `json:"extra_info"`
		}
		Types map[string]string
	}
	read := func(corpus radcot.Corpus) {
		var out bytes.Buffer
		require.NoError(t, b.Write(&out, corpus, radcot.Verl, paths))
		file := filepath.Join(t.TempDir(), radcot.FileName(corpus, radcot.Verl))
		require.NoError(t, os.WriteFile(file, out.Bytes(), 0o600))
		text, err := exec.Command(python, "-c", readBack, file).Output()
		require.NoError(t, err)
		got.Rows, got.Types = nil, nil
		require.NoError(t, json.Unmarshal(text, &got))
		t.Logf("%s: %d rows, %v", corpus, len(got.Rows), got.Types)
	}
	read(radcot.SFT)
	require.Len(t, got.Rows, b.SFT())
	k := 0
	for i := range b.Examples {
		e := &b.Examples[i]
		if !e.Part.SFT() {
			continue
		}
		row := got.Rows[k]
		require.Equal(t, e.ID, row.Extra.Item)
		require.Equal(t, k, row.Extra.Index)
		require.Len(t, row.Messages, len(e.Messages))
		for j, m := range e.Messages {
			require.Equal(t, message{m.Role, m.Content()}, row.Messages[j])
		}
		require.Len(t, row.Images, len(e.Images()))
		for j, ref := range e.Images() {
			require.Equal(t, paths(ref), row.Images[j].Image)
		}
		k++
	}
	read(radcot.GRPO)
	require.Len(t, got.Rows, b.GRPO())
	for _, row := range got.Rows {
		require.Len(t, row.Prompt, 2)
		require.Equal(t, "rule", row.Reward.Style)
		require.NotEmpty(t, row.Reward.Truth)
	}
}
