package gemini

import (
	"fmt"

	"google.golang.org/genai"

	"cxrepro/internal/dialogue"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/picture"
)

// query is a request in the SDK's terms. Its pictures stand in contents as marks and are put
// in place once the SDK has built the body: it would copy them several times.
type query struct {
	contents []*genai.Content
	config   *genai.GenerateContentConfig
	pictures []picture.Encoded // in order
}

// silence is what an empty turn of the model becomes: the service refuses turns without text.
const silence = " "

func newQuery(r lvlm.Request, pictures lvlm.PictureFunc) (*query, error) {
	if err := r.Transcript.Validate(); err != nil {
		return nil, err
	}
	if r.Serve != "" {
		return nil, &lvlm.CallError{Class: lvlm.Configured, Detail: "the service has snapshots of its own and no checkpoints by name"}
	}
	config, err := config(r)
	if err != nil {
		return nil, err
	}
	q := &query{config: config}
	for _, m := range r.Transcript.Messages {
		if m.Role == dialogue.System {
			config.SystemInstruction = &genai.Content{Parts: []*genai.Part{{Text: m.Text()}}}
			continue
		}
		content := &genai.Content{Role: genai.RoleUser}
		if m.Role == dialogue.Assistant {
			content.Role = genai.RoleModel
		}
		for _, p := range m.Parts {
			if p.Image == nil {
				content.Parts = append(content.Parts, &genai.Part{Text: p.Text})
				continue
			}
			content.Parts = append(content.Parts, &genai.Part{InlineData: &genai.Blob{Data: mark(len(q.pictures)), MIMEType: p.Image.MediaType}})
			q.pictures = append(q.pictures, picture.Encoded{Ref: *p.Image, Source: picture.Open(pictures)})
		}
		if len(content.Parts) == 0 {
			content.Parts = []*genai.Part{{Text: silence}}
		}
		q.contents = append(q.contents, content)
	}
	return q, nil
}

// harms are the categories whose threshold can be chosen.
var harms = []genai.HarmCategory{
	genai.HarmCategoryHarassment, genai.HarmCategoryHateSpeech, genai.HarmCategorySexuallyExplicit, genai.HarmCategoryDangerousContent,
}

func config(r lvlm.Request) (*genai.GenerateContentConfig, error) {
	d := r.Decoding
	out := &genai.GenerateContentConfig{StopSequences: d.Stop, MaxOutputTokens: int32(d.MaxTokens)}
	if d.Temperature != nil {
		out.Temperature = genai.Ptr(float32(*d.Temperature))
	}
	if d.TopP != nil {
		out.TopP = genai.Ptr(float32(*d.TopP))
	}
	if d.Seed != nil {
		out.Seed = genai.Ptr(int32(*d.Seed) + int32(r.Draw))
	}
	if d.ThinkingBudget != nil {
		out.ThinkingConfig = &genai.ThinkingConfig{ThinkingBudget: genai.Ptr(int32(*d.ThinkingBudget))}
	}
	for name, v := range d.Extra {
		if err := lvlm.CheckExtra(lvlm.GeminiVersion, name); err != nil {
			return nil, &lvlm.CallError{Class: lvlm.Configured, Detail: "extra of the model card: " + err.Error()}
		}
		if err := extra(out, name, v); err != nil {
			return nil, &lvlm.CallError{Class: lvlm.Configured, Detail: err.Error()}
		}
	}
	return out, nil
}

func extra(out *genai.GenerateContentConfig, name string, v any) error {
	switch name {
	case "safety":
		for _, h := range harms {
			out.SafetySettings = append(out.SafetySettings, &genai.SafetySetting{Category: h, Threshold: genai.HarmBlockThreshold(fmt.Sprint(v))})
		}
	case "media_resolution":
		out.MediaResolution = genai.MediaResolution("MEDIA_RESOLUTION_" + fmt.Sprint(v))
	case "top_k":
		k, ok := number(v)
		if !ok {
			return fmt.Errorf("extra.top_k of the model card: want a number, got %v", v)
		}
		out.TopK = genai.Ptr(float32(k))
	}
	return nil
}

// number takes what YAML and JSON decoders make of one.
func number(v any) (float64, bool) {
	switch x := v.(type) {
	case float64:
		return x, true
	case int:
		return float64(x), true
	case int64:
		return float64(x), true
	case uint64:
		return float64(x), true
	}
	return 0, false
}
