package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"strings"
	"testing/fstest"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/cxr"
	"cxrepro/internal/onnx/onnxtest"
	"cxrepro/internal/phantom"
)

// makePictures returns phantoms as JPEG files, each of another shape.
func makePictures(n, width int) ([][]byte, error) {
	files := make([][]byte, n)
	for i := range files {
		p := phantom.New(11, i, phantom.Options{})
		w, h := p.Film()
		pic, err := p.Picture(width-8*i, int(float64(width-8*i)*h/w))
		if err != nil {
			return nil, err
		}
		if files[i], err = cxr.EncodeJPEG(pic.Image, 95); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// publishedShape holds a model with the published input and output, one ellipse per class
// behind sixteen convolutions of about 80 GFLOP, some way of what the published network
// takes, and its card.
func publishedShape() fs.FS {
	const size = 512
	ellipses := make([]onnxtest.Ellipse, anatomy.Count)
	var names strings.Builder
	for i, s := range anatomy.All() {
		ellipses[i] = onnxtest.Ellipse{CX: 60 + 390*float64(i%13)/12, CY: 60 + 390*float64(i%17)/16, A: 20 + float64(i%40), B: 30 + float64(i%60)}
		fmt.Fprintf(&names, "  - %s\n", s.Name())
	}
	model := onnxtest.Ellipses(ellipses, onnxtest.Options{Size: size, Channels: 3, Gain: 0.01, Work: 16, Width: 32, Batch: true})
	card := fmt.Sprintf(`format: cxrepro-model-card-1
name: published-shape
version: "1"
file: model.onnx
sha256: "%x"
licence: {name: MIT, notice: ""}
source: written by the benchmark
input: {name: image, width: 512, height: 512, channels: 3, layout: NCHW, divisor: 255, mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225], resize: nearest}
output: {name: logits, kind: logits, threshold: 0, layout: NCHW, width: 512, height: 512}
channels:
%s`, sha256.Sum256(model), names.String())
	return fstest.MapFS{"model.onnx": {Data: model}, "card.yaml": {Data: []byte(card)}}
}
