package worker

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/internal/trainer"
)

// FaultVariable is the environment variable that places a kill, such as
// after-blob-put:3 for the third time that point is passed.
const FaultVariable = "CXREPRO_FAULT"

// Faults lists the points at which a kill can be placed.
func Faults() []string {
	return []string{
		artifacts.FaultBeforeBlobPut, artifacts.FaultAfterBlobPut,
		artifacts.FaultBeforeIndexPut, artifacts.FaultAfterIndexPut, activities.FaultInHeartbeat,
		activities.FaultBeforeRequest, activities.FaultAfterReply, activities.FaultAfterAnswerPut, activities.FaultAfterCallCommit,
		activities.FaultServerLoading, activities.FaultRewardsStored, activities.FaultBatchWritten, trainer.FaultStarted, activities.FaultInUpdate,
		activities.FaultInUpload, activities.FaultBeforeManifest,
	}
}

// ParseFault reads the value of FaultVariable. The returned hook ends this process with
// SIGKILL at the n-th time the point is passed; it is nil for an empty value.
func ParseFault(value string) (func(name string), error) {
	if value == "" {
		return nil, nil
	}
	point, count, ok := strings.Cut(value, ":")
	n, err := strconv.Atoi(count)
	known := false
	for _, f := range Faults() {
		known = known || f == point
	}
	if !ok || err != nil || n < 1 || !known {
		return nil, fmt.Errorf("%s=%q: want one of %s, a colon and a count from 1", FaultVariable, value, strings.Join(Faults(), ", "))
	}
	var hits atomic.Int64
	return func(name string) {
		if name == point && hits.Add(1) == int64(n) {
			kill()
		}
	}, nil
}

// kill ends this process the way a crash does: nothing is flushed, nothing deferred.
func kill() {
	// There is nothing to do about an error; the loop ends with the process.
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}
