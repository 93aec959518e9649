package agent

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/xragent"
)

func picture(artifacts.Ref) ([]byte, error) { return []byte("png"), nil }

// told is a rollout of one item that answered with a letter.
func told(arm, answer, turn1 string) Told {
	item := &xragent.Item{ID: "a", Source: "heart", Question: xragent.Question{Type: xragent.Lettered, Text: "How <b>large</b>?", Options: []string{"normal", "enlarged"}, Key: "A"},
		Pictures: []xragent.ItemPicture{{Image: artifacts.Ref{Digest: artifacts.Sum([]byte("p")), MediaType: "image/png"}}}}
	t := xragent.Trajectory{Question: item.Question, Turn1: &xragent.Turn{Text: turn1, FinishReason: "stop"},
		Turn2:       &xragent.Turn{Text: "<think>I see <script>alert(1)</script>.</think><answer>" + answer + "</answer>", FinishReason: "stop"},
		Measurement: xragent.Bundle{Reason: xragent.ReasonViewAP}}
	if arm == xragent.ArmGateOff {
		t.Measurement = xragent.Bundle{View: "unchecked", Values: [3]*xragent.Verified{{Value: 0.58, Category: "enlarged"}}}
	}
	s := xragent.ScoreTrajectory(t, xragent.DefaultSetting())
	return Told{Item: item, Policy: "p", Arm: arm, Doc: contract.RolloutDoc{Trajectory: t, Score: &s, Outcome: xragent.Outcome{Answer: answer, Correct: answer == "A"}}}
}

const wellFormed = `<think>One.</think><tool_call>{"name":"region_parse","arguments":{"target":"heart"}}</tool_call>`

// TestTranscripts holds what a page tells, that nothing of a reply becomes part of the page, and
// that a malformed turn stands as it came.
func TestTranscripts(t *testing.T) {
	var all Transcripts
	all.Add(told(xragent.ArmDefault, "A", wellFormed))
	all.Add(told(xragent.ArmGateOff, "B", wellFormed))
	second := told(xragent.ArmDefault, "A", wellFormed)
	second.Repeat = 1
	all.Add(second)
	broken := told(xragent.ArmDefault, "A", "<think>x</think><no_tool/> and more")
	all.Add(broken)
	var b bytes.Buffer
	require.NoError(t, all.Write(&b, "", picture))
	page := b.String()
	for _, want := range []string{"gate on", "gate off", "measurements withheld: <b>view_ap</b>", "ctr 0.58 enlarged", "data:image/png;base64,cG5n", "How &lt;b&gt;large&lt;/b&gt;?",
		"&lt;script&gt;", "region_parse", "malformed: stray_text", "&lt;no_tool/&gt; and more", `<li class="key">normal`} {
		require.Contains(t, page, want)
	}
	require.NotContains(t, page, "<script>")
	require.Equal(t, 3, strings.Count(page, `class="tr"`), "a pair, the first of a source, the first malformed")

	b.Reset()
	require.NoError(t, all.Write(&b, "Left out.", func(artifacts.Ref) ([]byte, error) { return nil, errors.New("must not be read") }))
	require.Contains(t, b.String(), "Left out.")
	require.NotContains(t, b.String(), "base64")
	require.Error(t, all.Write(&b, "", func(artifacts.Ref) ([]byte, error) { return nil, errors.New("gone") }))
	require.NoError(t, (&Transcripts{}).Write(&b, "", picture))
}

// TestSameAnswerIsNoPair holds that only changed answers are paired.
func TestSameAnswerIsNoPair(t *testing.T) {
	var all Transcripts
	all.Add(told(xragent.ArmDefault, "A", wellFormed))
	all.Add(told(xragent.ArmGateOff, "A", wellFormed))
	require.Empty(t, all.pairs)
	for range mostPairs + 3 {
		all.Add(told(xragent.ArmGateOff, "B", wellFormed))
	}
	require.Len(t, all.pairs, mostPairs)
	require.Equal(t, 3, all.more)
}
