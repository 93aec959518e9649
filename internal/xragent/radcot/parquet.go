package radcot

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// Columns of the files for verl. Messages and pictures are lists of structs.
type (
	verlMessage struct {
		Role    string `parquet:"role"`
		Content string `parquet:"content"`
	}
	verlImage struct {
		Image string `parquet:"image"`
	}
	verlTruth struct {
		Style string `parquet:"style"`
		Truth string `parquet:"ground_truth"`
	}
	verlExtra struct {
		Item  string `parquet:"item_id"`
		Split string `parquet:"split"`
		Index int64  `parquet:"index"`
		Part  string `parquet:"part"`
		Type  string `parquet:"question_type"`
		// Measurement names the cached bundle: the picture's digest.
		Measurement string `parquet:"measurement_key"`
	}
	verlSFT struct {
		Messages []verlMessage `parquet:"messages,list"`
		Images   []verlImage   `parquet:"images,list"`
		Extra    verlExtra     `parquet:"extra_info"`
	}
	verlGRPO struct {
		Source  string        `parquet:"data_source"`
		Agent   string        `parquet:"agent_name"`
		Ability string        `parquet:"ability"`
		Prompt  []verlMessage `parquet:"prompt,list"`
		Images  []verlImage   `parquet:"images,list"`
		Reward  verlTruth     `parquet:"reward_model"`
		Extra   verlExtra     `parquet:"extra_info"`
	}
)

// AgentName is the agent loop that rows for verl ask for, and their data source.
const AgentName = "xragent"

// groupRows bounds the memory of writing.
const groupRows = 1 << 10

func (b *Built) writeParquet(w io.Writer, c Corpus, paths Paths) error {
	if c == SFT {
		return writeRows(w, b, c, func(e *Example, m []verlMessage, i []verlImage, x verlExtra) verlSFT { return verlSFT{m, i, x} }, paths)
	}
	return writeRows(w, b, c, func(e *Example, m []verlMessage, i []verlImage, x verlExtra) verlGRPO {
		return verlGRPO{Source: AgentName, Agent: AgentName, Ability: string(e.Part), Prompt: m, Images: i, Reward: verlTruth{"rule", e.Question.Key}, Extra: x}
	}, paths)
}

// writeRows writes the examples of a corpus as they come. Equal constructions give equal bytes.
func writeRows[T any](w io.Writer, b *Built, c Corpus, row func(*Example, []verlMessage, []verlImage, verlExtra) T, paths Paths) error {
	out := parquet.NewGenericWriter[T](w, parquet.Compression(&parquet.Zstd), parquet.CreatedBy("cxrepro", "1", ""),
		parquet.KeyValueMetadata("cxrepro.data_use", b.DataUse.String()), parquet.KeyValueMetadata("cxrepro.corpus", string(c)))
	n := 0
	for i := range b.Examples {
		e := &b.Examples[i]
		if !c.holds(e) {
			continue
		}
		messages, err := b.conversation(e, c)
		if err != nil {
			return err
		}
		x := verlExtra{Item: e.ID, Split: "train", Index: int64(n), Part: string(e.Part), Type: e.about().Type, Measurement: e.Picture.Image.Digest.String()}
		texts := make([]verlMessage, len(messages))
		for k, m := range messages {
			texts[k] = verlMessage{m.Role, m.Content()}
		}
		images := []verlImage{}
		for _, p := range imagePaths(messages, paths) {
			images = append(images, verlImage{p})
		}
		if _, err := out.Write([]T{row(e, texts, images, x)}); err != nil {
			return fmt.Errorf("write %s: %w", FileName(c, Verl), err)
		}
		if n++; n%groupRows == 0 {
			if err := out.Flush(); err != nil {
				return fmt.Errorf("write %s: %w", FileName(c, Verl), err)
			}
		}
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("write %s: %w", FileName(c, Verl), err)
	}
	return nil
}
