package activities

import (
	"errors"

	"cxrepro/internal/contract"
	"cxrepro/internal/trainer"
)

// trainerType is the error type of what package trainer says, empty for another error.
func trainerType(err error) string {
	switch trainer.RefusalOf(err) {
	case trainer.NoProgress:
		return contract.ErrTypeNoProgress
	case trainer.Short:
		return contract.ErrTypeShort
	case trainer.Replayed:
		return contract.ErrTypeReplayed
	case trainer.Torn:
		return contract.ErrTypeTorn
	}
	var stuck *trainer.StuckError
	var held *trainer.HeldError
	var mismatch *trainer.MismatchError
	var ended *trainer.Failure
	switch {
	case errors.As(err, &stuck):
		return contract.ErrTypeTrainerStuck
	case errors.As(err, &held):
		return contract.ErrTypeHeld
	case errors.As(err, &mismatch):
		return contract.ErrTypeMismatch
	case errors.As(err, &ended):
		return failureType(ended.Class)
	}
	return ""
}

func failureType(c trainer.Class) string {
	switch c {
	case trainer.Memory:
		return contract.ErrTypeTrainerMemory
	case trainer.Data:
		return contract.ErrTypeTrainerData
	case trainer.Usage:
		return contract.ErrTypeTrainerUsage
	case trainer.Contradiction:
		return contract.ErrTypeMismatch
	case trainer.Disk:
		return contract.ErrTypeNoSpace
	}
	return contract.ErrTypeTrainer
}
