package segment

import (
	"errors"
	"testing"

	"cxrepro/internal/onnx"
)

// FuzzCard: any text gives a valid card or a *CardError, never a panic.
func FuzzCard(f *testing.F) {
	f.Add([]byte(cardText([]byte("m"), 64)))
	f.Add([]byte("format: cxrepro-model-card-1\nchannels: [heart, heart]\ninput: {mean: [.nan], std: [-1]}"))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseCard(&onnx.CardFile{Path: "card.yaml", Text: data})
		var ce *CardError
		if err != nil && !errors.As(err, &ce) {
			t.Fatalf("error %v is no *CardError", err)
		}
		if err == nil {
			if _, err := c.Identity("cpu"); err != nil {
				t.Fatal(err)
			}
			in, out := c.tensors()
			if in.Len() < 1 || out.Len() < 1 {
				t.Fatal("a valid card with an empty tensor")
			}
		}
	})
}
