package lineage

import (
	"strings"

	"cxrepro/artifacts"
	"cxrepro/artifacts/manifest"
	"cxrepro/experiments"
	"cxrepro/internal/catalog"
	"cxrepro/internal/contract"
	"cxrepro/internal/lvlm"
)

// stepKinds say what the result of a step is.
var stepKinds = map[string]Kind{
	contract.StepPixelFacts: KindFacts, contract.StepSegment: KindMasks, contract.StepImportMasks: KindMasks,
	contract.StepAssess: KindFindings, contract.StepSummarise: KindTable, contract.StepTabulate: KindTable,
	contract.StepDrawCases: KindBenchmark, contract.StepBuildCase: KindCase, contract.StepImportCase: KindCase,
	contract.StepPreparePicture: KindPicture, contract.StepCall: KindCall, contract.StepCallOutcome: KindCall,
	contract.StepMeasure: KindMeasurement, contract.StepTool: KindObservation, contract.StepTabulateAgent: KindTable,
	contract.StepReproduction: KindReproduction, contract.StepCheckpoint: KindCheckpoint, contract.StepTrainingSet: KindTrainingSet,
}

// stepTitles are words for results whose step is not the word for them.
var stepTitles = map[string]string{
	contract.StepPixelFacts: "pixel facts", contract.StepSegment: "masks", contract.StepImportMasks: "imported masks", contract.StepAssess: "findings of a window",
	contract.StepSummarise: "tables of labels", contract.StepTabulate: "tables of the evaluation", contract.StepDrawCases: "drawn cases",
	contract.StepMeasure: "measurement of a picture", contract.StepTool: "what a tool answered", contract.StepTabulateAgent: "tables of the agent",
	contract.StepBuildCase: "case", contract.StepImportCase: "case", contract.StepPreparePicture: "picture as it is sent", contract.StepReproduction: "receipt",
}

// mediaKinds say what a document is that no step has as its result, with a word for people.
var mediaKinds = map[string]struct {
	kind  Kind
	title string
}{
	contract.DialoguesMediaType:         {KindDocument, "page of dialogues"},
	contract.CallsMediaType:             {KindDocument, "account of calls"},
	contract.EvaluationMediaType:        {KindEvaluation, "evaluation"},
	contract.EvaluationSummaryMediaType: {KindTable, "tables of the evaluation"},
	contract.SummaryMediaType:           {KindTable, "tables of labels"},
	contract.BenchmarkMediaType:         {KindBenchmark, "benchmark"},
	contract.BenchmarkPlanMediaType:     {KindBenchmark, "drawn cases"},
	contract.CaseMediaType:              {KindCase, "case"},
	contract.QuestionsMediaType:         {KindBenchmark, "question set"},
	contract.RolloutsMediaType:          {KindRollouts, "page of rollouts"},
	contract.RolloutSetMediaType:        {KindEvaluation, "set of rollouts"},
	contract.AgentTablesMediaType:       {KindTable, "tables of the agent"},
	contract.AgentResultsMediaType:      {KindDocument, "list of results"},
	contract.PopulationMediaType:        {KindDocument, "who enters Path 2"},
	contract.ReceiptMediaType:           {KindReproduction, "receipt"},
	contract.ResultsMediaType:           {KindDocument, "list of results"},
	contract.EvaluationResultsMediaType: {KindDocument, "list of results"},
	contract.FindingsMediaType:          {KindFindings, "findings"},
	contract.AssessedMediaType:          {KindDocument, "where a window's findings are"},
	contract.WindowInMediaType:          {KindDocument, "inputs of a window"},
	contract.PackMediaType:              {KindDocument, "list"},
	contract.BuiltCasesMediaType:        {KindDocument, "list of cases"},
	contract.DatasetMediaType:           {KindDataset, "data set"},
	contract.ChunkOutMediaType:          {KindDocument, "images as they were read"},
	manifest.RootMediaType:              {KindDataset, "list of images"},
	manifest.ChunkMediaType:             {KindDocument, "window of images"},
	experiments.PlanMediaType:           {KindPlan, "plan"},
	lvlm.AnswerMediaType:                {KindCall, "answer"},
}

// usedKinds say what something is that only its use tells.
var usedKinds = map[string]Kind{
	"image": KindImage, "model": KindModel, "prompts": KindPrompt, "masks": KindMasks, "facts": KindFacts, "manifest": KindDataset, "plan": KindPlan,
	"settings": KindSettings, "lung": KindMasks, "picture": KindPicture, "weights": KindModel, "window": KindDocument, catalog.LinkPrompt: KindPrompt, catalog.LinkQuestion: KindQuestion,
}

// nodeOf is the node of an artifact that stands for itself.
func nodeOf(a catalog.Artifact) Node {
	n := Node{Kind: KindArtifact, Digest: a.Ref.Digest}
	if p := a.Parameter; p != nil {
		n.Kind, n.Title = KindParameter, p.Name+" = "+p.Value
		switch {
		case p.Name == catalog.LinkModel:
			n.Kind = KindModel
		case p.Name == "decoding":
			n.at.parameter = decoding
		case strings.HasPrefix(p.Name, "switches."):
			n.at.parameter = option
		default:
			n.at.parameter = threshold
		}
		return n.identify()
	}
	media, _, _ := strings.Cut(a.Ref.MediaType, ";")
	if len(a.Steps) > 0 {
		s := a.Steps[0]
		n.Kind, n.Title, n.Key, n.Reproduction, n.Removed = stepKinds[s.Key.Step], s.Key.Step, s.Key, s.Reproduction, s.Removed
		n.at.code = s.Code
		if n.Kind == "" {
			n.Kind = KindResult
		}
		if title := stepTitles[s.Key.Step]; title != "" {
			n.Title = title
		}
		if n.Kind == KindCall {
			return callNode(catalog.Call{Step: s})
		}
		return n.identify()
	}
	if m, ok := mediaKinds[media]; ok {
		n.Kind, n.Title = m.kind, m.title
		return n.identify()
	}
	if strings.HasPrefix(media, "image/") {
		n.Kind = KindPicture
	}
	n.Title = media
	for _, name := range a.Used {
		used, _, _ := strings.Cut(name, " ") // "picture of init"
		if k, ok := usedKinds[used]; ok {
			n.Kind, n.Title = k, name
		}
		if n.Kind == KindImage {
			break // a film that is sent as it is, is a picture too
		}
	}
	if n.Title == "" && len(a.Used) > 0 {
		n.Title = a.Used[0]
	}
	if title := usedTitles[n.Title]; title != "" {
		n.Title = title
	}
	return n.identify()
}

// usedTitles are words for names of materials.
var usedTitles = map[string]string{"lung": "second contour of the right lung", "settings": "settings of the model card", "prompts": "texts of the questions"}

// callNode is the node of a call: equal answers of two calls are one blob.
func callNode(c catalog.Call) Node {
	s := c.Step
	n := Node{Kind: KindCall, Digest: s.Result.Digest, Key: s.Key, Reproduction: s.Reproduction, Removed: s.Removed, Title: s.Key.Step}
	if c.Model != "" {
		n.Title = c.Model + ", " + c.Outcome
	}
	n.at.code = s.Code
	n.ID = string(KindCall) + ":" + s.Key.Digest.Hex()
	return n
}

// identify names the node by its digest.
func (n Node) identify() Node {
	n.ID = string(n.Kind) + ":" + n.Digest.Hex()
	return n
}

// row names the node by a row of its document.
func (n Node) row(name string) Node {
	n.ID = string(n.Kind) + ":" + n.Digest.Hex() + "#" + name
	return n
}

// codeNode is the program that computed something: a commit, or the digest of its binary.
func codeNode(code string) Node {
	title := "commit " + code
	if d, err := artifacts.ParseDigest(code); err == nil {
		title = "binary " + d.Short()
	}
	if code == "" {
		title = "not known"
	}
	return Node{ID: string(KindCode) + ":" + code, Kind: KindCode, Title: title}
}
