package segment

import (
	"errors"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/onnx"
)

// CardError reports a model card that cannot be used. Permanent.
type CardError struct {
	Path string
	Err  error // all violations, joined
}

func (e *CardError) Error() string { return fmt.Sprintf("model card %s: %v", e.Path, e.Err) }
func (e *CardError) Unwrap() error { return e.Err }

// DigestError reports a model file that is not the one its card names. Permanent.
type DigestError struct {
	File      string
	Want, Got artifacts.Digest
}

func (e *DigestError) Error() string {
	return fmt.Sprintf("model file %s has digest %s, its card says %s; hint: fetch the right file, or write a card for this one", e.File, e.Got, e.Want)
}

// ChannelError reports a model whose number of output channels is not the number of
// structures on its card. Permanent.
type ChannelError struct {
	Card, Model int64
}

func (e *ChannelError) Error() string {
	return fmt.Sprintf("the model puts out %d channels, its card lists %d; hint: list one structure per channel, \"-\" for a channel without one", e.Model, e.Card)
}

// NotFiniteError reports an inference that gave NaN or infinity: the model or the
// machine is broken, and no mask is made of it. Permanent for this picture.
type NotFiniteError struct {
	Channel int
	Name    string
	Count   int // values of the channel that are not finite
}

func (e *NotFiniteError) Error() string {
	return fmt.Sprintf("inference gave %d values that are not finite in channel %d (%s)", e.Count, e.Channel, e.Name)
}

// Permanent reports whether err is one that asking again cannot mend.
func Permanent(err error) bool {
	var c *CardError
	var d *DigestError
	var n *ChannelError
	var f *NotFiniteError
	return errors.As(err, &c) || errors.As(err, &d) || errors.As(err, &n) || errors.As(err, &f) || onnx.Permanent(err)
}
