package main

import (
	"errors"
	"strings"

	"cxrepro/internal/contract"
	"cxrepro/internal/lvlm/recorded"
)

// paused ends a run whose reproduction was paused with the one way on that fits the reason: the
// hint that the reason carries is for whoever runs workers of their own.
func paused(g contract.Gate) error {
	why, said := splitHint(g.Reason)
	hint := wayOn(g)
	if hint == "" && said != "" {
		hint = said + "; then run the same command"
	}
	if hint == "" {
		hint = "the same command goes on"
	}
	return &exitError{Code: exitPaused, Err: errors.New("paused: " + why), Hint: hint}
}

// wayOn is how a run goes on that was paused for a reason of evaluations, "" for other reasons.
func wayOn(g contract.Gate) string {
	switch g.By {
	case contract.ErrTypeBudget:
		return "run the same command with a larger --budget; recorded answers cost nothing"
	case contract.ErrTypeEndpointDenied:
		return "export the right credential, in the variable that credential_env of the endpoint card names, and run the same command"
	case contract.ErrTypeQuota:
		return "raise the quota or pay the endpoint's account, then run the same command"
	case contract.ErrTypeEndpoint:
		if strings.Contains(g.Reason, recorded.NotInLedger) {
			return "run the same command without --recorded, with --endpoints FILE: what is recorded is not asked again"
		}
		return "correct the endpoint card that --endpoints names, then run the same command"
	}
	return ""
}
