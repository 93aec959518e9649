package derive

import (
	"cxrepro/artifacts"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
)

// WindowIn is what the tasks of a window depend on: masks holds the stored masks of each entry.
func WindowIn(entries []contract.Entry, masks []artifacts.Ref) contract.WindowIn {
	doc := contract.WindowIn{Format: contract.WindowInFormat, Images: make([]contract.ImageIn, len(entries))}
	for i, e := range entries {
		doc.Images[i] = ImageIn(e, masks[i])
	}
	return doc
}

// ImageIn is an entry as the tasks see it.
func ImageIn(e contract.Entry, masks artifacts.Ref) contract.ImageIn {
	return contract.ImageIn{Image: e.Image, Facts: e.Facts.Digest, Masks: masks, View: e.View, Boxes: e.Boxes, Lung: e.Lung.Digest}
}

// AssessKey is the key of one task over the window whose inputs have a digest.
func (p *Plan) AssessKey(window artifacts.Digest, task chexstruct.Task) artifacts.KeyDoc {
	return contract.AssessKey(window, task.String(), p.Rules.KeyParams(task))
}

// Results lists what counts as the findings' result, without the tables. images are the sizes
// of the windows.
func Results(data contract.Dataset, images []int, assessed []contract.Assessed) contract.Results {
	out := contract.Results{
		Format: contract.ResultsFormat, In: data.In, Filtered: data.Filtered, Quarantined: data.Quarantined,
	}
	for i, w := range assessed {
		r := contract.WindowResult{Images: images[i]}
		for _, task := range w.Tasks {
			r.Rows = append(r.Rows, task.Result.Digest)
		}
		out.Windows = append(out.Windows, r)
	}
	return out
}

// SummariseKey is the key of the tables over one list of rows.
func (p *Plan) SummariseKey(results artifacts.Digest) (artifacts.KeyDoc, error) {
	var expected artifacts.Digest
	if e := p.Spec.Expected; e != nil {
		text, err := artifacts.Canonical(e)
		if err != nil {
			return artifacts.KeyDoc{}, err
		}
		expected = artifacts.Sum(text)
	}
	title := map[string]any{"name": p.Spec.Name, "paper": p.Spec.Paper, "rules": p.Rules.String(), "tasks": p.Spec.Tasks}
	return contract.SummariseKey(results, title, expected), nil
}
