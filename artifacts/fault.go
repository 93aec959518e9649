package artifacts

// Names of the points at which FaultHook is called.
const (
	FaultBeforeBlobPut  = "before-blob-put"
	FaultAfterBlobPut   = "after-blob-put"
	FaultBeforeIndexPut = "before-index-put"
	FaultAfterIndexPut  = "after-index-put"
)

// FaultHook, when set, is called at named points of a step, so that a kill can be
// placed exactly there. Set it before the first use of the package and never after.
var FaultHook func(name string)

func faultPoint(name string) {
	if FaultHook != nil {
		FaultHook(name)
	}
}
