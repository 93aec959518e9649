package checkpoint

import (
	"context"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/overlap"
	"cxrepro/internal/provenance"
)

// Check compares the training lineage of weights with the images of an evaluation and records
// what it finds, under a key of both: an equal comparison is recorded once. limit is the
// largest distance of a near-duplicate in bits, dataUse the class of the evaluation's images.
//
// Errors: ErrNoCheckpoint.
func (r *Recorder) Check(ctx context.Context, weights artifacts.Digest, evaluation contract.ImageList, limit int, dataUse string) (*contract.OverlapReport, artifacts.Ref, error) {
	l, err := LineageOf(ctx, r.Store, weights)
	if err != nil {
		return nil, artifacts.Ref{}, err
	}
	training, err := l.images(ctx, r.Store)
	if err != nil {
		return nil, artifacts.Ref{}, err
	}
	judged, err := Images(ctx, r.Store, evaluation)
	if err != nil {
		return nil, artifacts.Ref{}, fmt.Errorf("images of the evaluation: %w", err)
	}
	report := &contract.OverlapReport{
		Format: contract.OverlapReportFormat, Checkpoint: l.Chain[0].Value.Name, Weights: weights, Base: l.base(),
		Training: l.refs(), Evaluation: evaluation, Limit: limit, Perceptual: overlap.PerceptualName,
	}
	report.Fill(overlap.Find(training, judged, limit))
	if !l.Unknown.IsZero() {
		report.Gaps = append(report.Gaps, overlap.Gap{Kind: overlap.SameBytes, Detail: "nothing is recorded of the training of parent " + l.Unknown.Short()})
	}
	key := contract.CheckOverlapKey(weights, report.Training, evaluation, limit)
	materials := []provenance.Descriptor{provenance.DescribeDigest("weights", weights), provenance.Describe("evaluation", evaluation.List)}
	for _, t := range l.Training {
		materials = append(materials, provenance.Describe("training", t.Ref), provenance.Describe("training.images", t.Value.Images.List))
	}
	ref, err := r.record(ctx, entry{key: key, value: report, mediaType: contract.OverlapReportMediaType, dataUse: dataUse, materials: materials,
		pin: "overlap", note: "overlap of checkpoint " + report.Checkpoint + " with an evaluation"})
	return report, ref, err
}
