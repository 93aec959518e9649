package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/openai/openai-go/v3/option"

	"cxrepro/internal/dialogue"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/picture"
	"cxrepro/internal/lvlm/wire"
)

// body is a request's JSON: our text between encoded pictures.
type body struct {
	wire.Body
	buf bytes.Buffer
}

// cut makes a piece of what was written to buf since the last one.
func (b *body) cut() {
	if b.buf.Len() == 0 {
		return
	}
	b.Text(bytes.Clone(b.buf.Bytes()))
	b.buf.Reset()
}

// send is a middleware that puts the body in place of what the SDK was given.
func (b *body) send(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	b.Put(req)
	return next(req)
}

// body writes the request. Messages come first: they are what two requests have in common.
func (c *Client) body(r lvlm.Request, pictures lvlm.PictureFunc) (*body, error) {
	if err := r.Transcript.Validate(); err != nil {
		return nil, err
	}
	b := &body{}
	b.buf.WriteString(`{"messages":[`)
	for i, m := range r.Transcript.Messages {
		if i > 0 {
			b.buf.WriteByte(',')
		}
		b.message(m, pictures)
	}
	b.buf.WriteByte(']')
	fields, err := c.fields(r)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		b.buf.WriteByte(',')
		writeString(&b.buf, name)
		b.buf.WriteByte(':')
		if err := writeValue(&b.buf, fields[name]); err != nil {
			return nil, fmt.Errorf("field %s of the request: %w", name, err)
		}
	}
	b.buf.WriteByte('}')
	b.cut()
	return b, nil
}

// message writes one message: a plain text, or a list of text and pictures.
func (b *body) message(m dialogue.Message, pictures lvlm.PictureFunc) {
	b.buf.WriteString(`{"role":`)
	writeString(&b.buf, m.Role.String())
	b.buf.WriteString(`,"content":`)
	if len(m.Images()) == 0 {
		writeString(&b.buf, m.Text())
		b.buf.WriteByte('}')
		return
	}
	for i, p := range m.Parts {
		b.buf.WriteByte("[,"[min(i, 1)])
		if p.Image == nil {
			b.buf.WriteString(`{"type":"text","text":`)
			writeString(&b.buf, p.Text)
			b.buf.WriteByte('}')
			continue
		}
		b.buf.WriteString(`{"type":"image_url","image_url":{"url":"data:` + p.Image.MediaType + `;base64,`)
		b.cut()
		b.Add(picture.Encoded{Ref: *p.Image, Source: picture.Open(pictures)})
		b.buf.WriteString(`"}}`)
	}
	b.buf.WriteString(`]}`)
}

// fields lists everything but the messages.
func (c *Client) fields(r lvlm.Request) (map[string]any, error) {
	d := r.Decoding
	if d.ThinkingBudget != nil {
		return nil, &lvlm.CallError{Class: lvlm.Configured, Detail: "chat completions have no thinking budget; the model card's decoding names one"}
	}
	f := map[string]any{"model": c.o.Model}
	if r.Serve != "" {
		if c.o.APIVersion != "" {
			return nil, &lvlm.CallError{Class: lvlm.Configured, Detail: "a deployment of Azure serves one model and no checkpoints by name"}
		}
		f["model"] = r.Serve
	}
	for name, v := range d.Extra {
		if err := lvlm.CheckExtra(lvlm.ChatVersion, name); err != nil {
			return nil, &lvlm.CallError{Class: lvlm.Configured, Detail: "extra of the model card: " + err.Error()}
		}
		f[name] = v
	}
	if d.Temperature != nil {
		f["temperature"] = *d.Temperature
	}
	if d.TopP != nil {
		f["top_p"] = *d.TopP
	}
	if d.MaxTokens > 0 {
		f[c.o.LimitField] = d.MaxTokens
	}
	if d.Seed != nil {
		f["seed"] = *d.Seed + int64(r.Draw)
	}
	if len(d.Stop) > 0 {
		f["stop"] = d.Stop
	}
	return f, nil
}

func writeString(buf *bytes.Buffer, s string) { _ = writeValue(buf, s) }

// writeValue writes JSON that escapes no more than it must.
func writeValue(buf *bytes.Buffer, v any) error {
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	buf.Truncate(buf.Len() - 1) // the encoder's line feed
	return nil
}
