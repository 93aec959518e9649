package xragent

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestArms: each arm has an identity of its own; configurations name arms that exist; an arm
// that does not exist is refused with the list.
func TestArms(t *testing.T) {
	seen := map[string]string{}
	for _, name := range Arms() {
		arm, err := ArmOf(name, ProfileCalibrated)
		require.NoError(t, err, name)
		id := arm.Identity()
		delete(id, "arm") // names alone would tell them apart
		data, err := json.Marshal(id)
		require.NoError(t, err)
		text := string(data)
		require.Empty(t, seen[text], name)
		seen[text] = name
	}
	for _, c := range Configurations() {
		_, err := ArmOf(c.Arm, ProfileTable)
		require.NoError(t, err, c.Name)
	}
	for _, name := range []string{"", "direct", "direct.v9", "Default"} {
		_, err := ArmOf(name, ProfileTable)
		require.Error(t, err, name)
	}
	_, err := ArmOf(ArmDefault, "other")
	require.Error(t, err)
}

// TestForcedTools: five calls whatever the plan asks for; the crop waits for both lungs and
// takes the box around those that were found; the policy is charged for what it wrote.
func TestForcedTools(t *testing.T) {
	arm, err := ArmOf(ArmForceAll, ProfileCalibrated)
	require.NoError(t, err)
	q := Question{Type: Lettered, Text: "Which?", Options: []string{"effusion", "pneumonia"}, Key: "A"}
	roll := Rollout{ID: "x", Question: q, Pictures: onePicture}
	roll, err = arm.Agent.Answered(roll, Turn{Text: "<think>a</think><no_tool/>", FinishReason: "stop"})
	require.NoError(t, err)
	step, err := arm.Agent.Next(roll)
	require.NoError(t, err)
	require.Len(t, step.Run, 4, "all but the crop")
	require.Equal(t, q.Options, step.Run[3].Options)
	require.True(t, step.Measure)
	observe := func(o Observation) {
		t.Helper()
		roll, err = arm.Agent.Observed(roll, o)
		require.NoError(t, err)
	}
	observe(Observation{Call: 1, Name: ToolParse, Status: StatusOK, Box: &[4]int{100, 200, 400, 800}})
	observe(Observation{Call: 3, Name: ToolParse, Status: StatusNotFound})
	step, err = arm.Agent.Next(roll)
	require.NoError(t, err)
	require.Len(t, step.Run, 2, "one lung is not known yet")
	observe(Observation{Call: 2, Name: ToolParse, Status: StatusOK, Box: &[4]int{550, 150, 900, 850}})
	step, err = arm.Agent.Next(roll)
	require.NoError(t, err)
	crop := step.Run[0]
	require.Equal(t, ToolCrop, crop.Name)
	box, _, ok := CropBox(crop, roll.Results, nil)
	require.True(t, ok)
	require.Equal(t, [4]int{100, 150, 900, 850}, box)
	observe(Observation{Call: 4, Name: ToolCrop, Status: StatusOK, Box: &box})
	observe(Observation{Call: 5, Name: ToolLookup, Status: StatusOK, Text: "words"})
	roll, err = arm.Agent.Measured(roll, Bundle{Reason: ReasonViewAP})
	require.NoError(t, err)
	step, err = arm.Agent.Next(roll)
	require.NoError(t, err)
	require.Equal(t, 2, step.Turn)
	require.Len(t, step.Ask.Messages[3].Parts, 6, "five blocks and the measurement")
	roll, err = arm.Agent.Answered(roll, Turn{Text: "<think>b</think><answer>A</answer>", FinishReason: "stop"})
	require.NoError(t, err)
	require.Zero(t, Parse(arm.Agent.Trajectory(roll)).Calls)
	require.True(t, Parse(arm.Agent.Trajectory(roll)).Correct)
}

// TestForcedCropWithoutLungs: where no lung was found there is nothing to crop.
func TestForcedCropWithoutLungs(t *testing.T) {
	a := Agent{Forced: true, NoMeasurement: true}
	roll := Rollout{ID: "x", Question: Question{Type: YesNo, Text: "Is it?", Key: "Yes"}, Pictures: onePicture,
		Turn1: &Turn{Text: "<think>a</think><no_tool/>", FinishReason: "stop"}}
	for k := 1; k <= 3; k++ {
		roll.Results = append(roll.Results, Observation{Call: k, Name: ToolParse, Status: StatusNotFound})
	}
	step, err := a.Next(roll)
	require.NoError(t, err)
	require.Equal(t, 2, step.Turn, "a question without options has no lookup, and the crop answers itself")
	require.Contains(t, step.Ask.Messages[3].Text(), `"call":4,"name":"roi_crop","status":"not_found"`)
}

// TestReadConditions reads lists as models write them.
func TestReadConditions(t *testing.T) {
	require.Equal(t, []string{"pleural effusion", "Pneumonia"}, ReadConditions("1. pleural effusion\n\n- Pneumonia\n* pleural effusion\n"))
	require.Empty(t, ReadConditions("none"))
	require.Len(t, ReadConditions("a\nb\nc\nd\ne"), MaxConditions)
	require.NotContains(t, ConditionsTranscript([]string{"x"}).Messages[1].Text(), "picture")
}

// TestDirectPrompts: one turn with the prompt's own text, ended by any reply.
func TestDirectPrompts(t *testing.T) {
	texts := map[string]bool{}
	for _, name := range DirectPrompts() {
		arm, err := ArmOf(ArmDirect+"."+name, ProfileTable)
		require.NoError(t, err)
		roll := Rollout{ID: "x", Question: Question{Type: YesNo, Text: "Is it?", Key: "Yes"}, Pictures: onePicture}
		step, err := arm.Agent.Next(roll)
		require.NoError(t, err)
		system := step.Ask.Messages[0].Text()
		require.NotContains(t, system, "tool_call")
		require.False(t, texts[system])
		texts[system] = true
		roll, err = arm.Agent.Answered(roll, Turn{Text: "Yes", FinishReason: "stop"})
		require.NoError(t, err)
		step, err = arm.Agent.Next(roll)
		require.NoError(t, err)
		require.Equal(t, Completed, step.Ending)
	}
}
