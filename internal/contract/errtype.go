package contract

// Error types: the only thing about an error that survives the wire and that workflows may
// branch on.
const (
	// ErrTypeSpec: the plan cannot be carried out as written. Permanent.
	ErrTypeSpec = "InvalidSpec"
	// ErrTypeDataset: the data set's tables or folders are not what the layout says. Permanent.
	ErrTypeDataset = "InvalidDataset"
	// ErrTypeInputChanged: a file no longer has the bytes that ingest saw. Permanent; a new
	// run ingests it again.
	ErrTypeInputChanged = "InputChanged"
	// ErrTypeModel: card, weights or library do not fit, or the provider is missing here.
	// Pauses: a person corrects the worker.
	ErrTypeModel = "ModelUnusable"
	// ErrTypeInference: the model gave no usable output for an image. Permanent.
	ErrTypeInference = "InferenceFailed"
	// ErrTypeConflict: a step gave a second, different result. Permanent and recorded.
	ErrTypeConflict = "ResultConflict"
	// ErrTypeDigest: stored bytes are damaged, also on a second read. Permanent.
	ErrTypeDigest = "DigestMismatch"
	// ErrTypeRefused: the data-use class does not allow it. Permanent.
	ErrTypeRefused = "DataUseRefused"
	// ErrTypeDenied: credentials are missing or refused. Pauses the reproduction.
	ErrTypeDenied = "AccessDenied"
	// ErrTypeUnsafeStore: the store breaks a promise nothing replaces. Pauses.
	ErrTypeUnsafeStore = "UnsafeStore"
	// ErrTypeEndpointDenied: a model endpoint refuses the credentials, or there are none. Pauses.
	ErrTypeEndpointDenied = "EndpointDenied"
	// ErrTypeQuota: a model endpoint has nothing left for us to spend. Pauses.
	ErrTypeQuota = "EndpointQuota"
	// ErrTypeEndpoint: a model endpoint does not know model, route or parameter, or the worker
	// has no usable card for it. Pauses.
	ErrTypeEndpoint = "EndpointConfiguration"
	// ErrTypeBudget: the reproduction has spent what it may. Pauses.
	ErrTypeBudget = "BudgetReached"
	// ErrTypeOversize: a result would not fit a history. Permanent, a defect of ours.
	ErrTypeOversize = "OversizedResult"
	// ErrTypeExhausted: an unknown error came back too often. Permanent.
	ErrTypeExhausted = "RetriesExhausted"

	// ErrTypeNoProgress, ErrTypeShort, ErrTypeReplayed and ErrTypeTorn: a trainer ended, and what
	// it left is not believed (package trainer). Permanent.
	ErrTypeNoProgress = "TrainingNoProgress"
	ErrTypeShort      = "TrainingShort"
	ErrTypeReplayed   = "TrainingReplayed"
	ErrTypeTorn       = "CheckpointTorn"
	// ErrTypeMismatch: the folder of a run holds another training. Permanent.
	ErrTypeMismatch = "TrainingMismatch"
	// ErrTypeTrainerMemory, ErrTypeTrainerData and ErrTypeTrainerUsage: a trainer failed in a way
	// in which it fails again. Permanent.
	ErrTypeTrainerMemory = "TrainerOutOfMemory"
	ErrTypeTrainerData   = "TrainerData"
	ErrTypeTrainerUsage  = "TrainerUsage"
	// ErrTypeTrainerStuck: attempt after attempt made no step. Permanent.
	ErrTypeTrainerStuck = "TrainerStuck"

	// ErrTypeTrainer: a trainer crashed, lost its ranks or found its port taken. Transient; the
	// trainer itself counts attempts without a step.
	ErrTypeTrainer = "TrainerEnded"
	// ErrTypeStore: the store does not answer. Transient.
	ErrTypeStore = "StoreUnreachable"
	// ErrTypeNoSpace: the store or disk is full. Transient: space can be made.
	ErrTypeNoSpace = "NoSpace"
	// ErrTypeDraining: the worker is stopping; the rest is for another. Transient.
	ErrTypeDraining = "WorkerDraining"
	// ErrTypeNoData: this worker has no folder for the data set; another may. Transient.
	ErrTypeNoData = "DataNotHere"
	// ErrTypeHeld: another worker computes the same key. Transient.
	ErrTypeHeld = "KeyHeld"
	// ErrTypeThrottled: a model endpoint asks to wait. Transient; the next attempt comes when
	// it said.
	ErrTypeThrottled = "EndpointThrottled"
	// ErrTypeUnreachable: a model endpoint does not answer, or not to the end. Transient.
	ErrTypeUnreachable = "EndpointUnreachable"
	// ErrTypeUnknown: anything else. Retried a bounded number of times.
	ErrTypeUnknown = "Unknown"

	// ErrTypeIncomplete: a stage ended with windows that could not be done.
	ErrTypeIncomplete = "StageIncomplete"
)

// Permanent lists the types that are never retried.
func Permanent() []string {
	return []string{
		ErrTypeSpec, ErrTypeDataset, ErrTypeInputChanged, ErrTypeModel, ErrTypeInference, ErrTypeConflict, ErrTypeDigest,
		ErrTypeRefused, ErrTypeDenied, ErrTypeUnsafeStore, ErrTypeOversize, ErrTypeExhausted,
		ErrTypeEndpointDenied, ErrTypeQuota, ErrTypeEndpoint, ErrTypeBudget,
		ErrTypeNoProgress, ErrTypeShort, ErrTypeReplayed, ErrTypeTorn, ErrTypeMismatch,
		ErrTypeTrainerMemory, ErrTypeTrainerData, ErrTypeTrainerUsage, ErrTypeTrainerStuck,
	}
}

// Pauses reports whether an error of this type waits for a person instead of failing the
// reproduction.
func Pauses(errType string) bool {
	switch errType {
	case ErrTypeDenied, ErrTypeUnsafeStore, ErrTypeModel, ErrTypeEndpointDenied, ErrTypeQuota, ErrTypeEndpoint, ErrTypeBudget:
		return true
	}
	return false
}
