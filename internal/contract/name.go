package contract

// Activity is the typed name of an activity: workflows call it, activities register it,
// and neither imports the other.
type Activity[In, Out any] struct{ Name string }

// Workflow is the typed name of a workflow.
type Workflow[In, Out any] struct{ Name string }

// Workflows.
var (
	Launch        = Workflow[LaunchInput, LaunchResult]{Name: "Launch"}
	IngestDataset = Workflow[IngestInput, IngestResult]{Name: "IngestDataset"}
	Reproduction  = Workflow[ReproductionInput, ReproductionResult]{Name: "Reproduction"}
	Stage         = Workflow[StageInput, StageResult]{Name: "Stage"}
)

// Activities.
var (
	ScanTables    = Activity[ScanInput, ScanResult]{Name: "ScanTables"}
	IngestChunk   = Activity[IngestChunkInput, ChunkResult]{Name: "IngestChunk"}
	PackRefs      = Activity[PackInput, PackResult]{Name: "PackRefs"}
	BuildManifest = Activity[ManifestInput, ManifestResult]{Name: "BuildManifest"}
	FindReceipt   = Activity[FindReceiptInput, FindReceiptResult]{Name: "FindReceipt"}
	SegmentChunk  = Activity[WindowInput, ChunkResult]{Name: "SegmentChunk"}
	AssessWindow  = Activity[WindowInput, ChunkResult]{Name: "AssessWindow"}
	ReconcilePage = Activity[ReconcileInput, ReconcileResult]{Name: "ReconcilePage"}
	Summarise     = Activity[SummariseInput, SummariseResult]{Name: "Summarise"}
	WriteReceipt  = Activity[ReceiptInput, ReceiptResult]{Name: "WriteReceipt"}
)

// Updates, queries and signals of Reproduction; Stage takes the signal and the query.
const (
	UpdatePause   = "pause"
	UpdateResume  = "resume"
	UpdateCancel  = "cancel"
	QueryProgress = "progress"
	SignalGate    = "gate"
	SignalTrouble = "trouble"
)

// Search attributes, all of type Keyword.
const (
	AttrPaper        = "Paper"
	AttrReproduction = "ReproductionID"
	AttrStage        = "Stage"
	AttrDataUse      = "DataUse"
)

// Stages of a reproduction, in order. They name Stage workflows, search attributes and
// receipt rows.
const (
	StageIngest    = "ingest"
	StageSegment   = "segment"
	StageAssess    = "assess"
	StageSummarise = "summarise"
)

// DefaultQueue is the prefix of the task queues when no other is given.
const DefaultQueue = "cxrepro"

// QueueCPU runs workflows and everything that needs no accelerator.
func QueueCPU(prefix string) string { return prefix + "-cpu" }

// QueueGPU runs segmentation; its slots are accelerators, or processors standing in.
func QueueGPU(prefix string) string { return prefix + "-gpu" }
