package dataset

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
)

// LLaVARadRecord is one record of the LLaVA-Rad annotations of MIMIC-CXR: a picture with the
// findings of its report. Identifiers belong inside the artifact store only.
type LLaVARadRecord struct {
	Number int // place in the file, from 1
	// Image is the picture's path below the folder of MIMIC-CXR-JPG: files/p10/...
	Image              string
	Subject, Study, ID string
	View               string // as the file writes it: PA, AP, LATERAL, ... or empty
	Method             string // rule-based, or the name of a language model
	Reason             string // the indication, may be empty
	Findings           string
	HasFindings        bool // false where the value is null or no text
}

// LLaVARad is the training file of the annotations, found by its name.
type LLaVARad struct {
	fsys fs.FS
	// File is the file's name in the folder.
	File string
}

// OpenLLaVARad finds chat_train_MIMIC_CXR_*.json in the folder's root.
//
// Errors: *RecordError when there is none, or more than one.
func OpenLLaVARad(fsys fs.FS) (*LLaVARad, error) {
	names, err := fs.Glob(fsys, "chat_train_*.json")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	const name = "chat_train_MIMIC_CXR_all_gpt4extract_rulebased_v1.json"
	switch len(names) {
	case 1:
		return &LLaVARad{fsys: fsys, File: names[0]}, nil
	case 0:
		return nil, &RecordError{File: name, Detail: "is missing in the folder of the LLaVA-Rad annotations", Hint: "point at the folder that holds the chat_*.json files"}
	}
	return nil, &RecordError{File: strings.Join(names, " and "), Detail: "are two training files", Hint: "keep one of them in the folder"}
}

// Records streams the file. A record without findings is data; one without a picture, a
// conversation or identifiers is an error.
func (l *LLaVARad) Records() iter.Seq2[LLaVARadRecord, error] {
	return jsonRecords(l.fsys, l.File, func(n int, raw json.RawMessage) (LLaVARadRecord, error) {
		r, err := newRecord(l.File, n, raw)
		if err != nil {
			return LLaVARadRecord{}, err
		}
		return readLLaVARad(r)
	})
}

func readLLaVARad(r record) (out LLaVARadRecord, err error) {
	out = LLaVARadRecord{Number: r.n, View: strings.ToUpper(strings.TrimSpace(r.optional("view"))),
		Method: r.optional("generate_method"), Reason: strings.TrimSpace(r.optional("reason"))}
	image, err := r.text("image")
	if err != nil {
		return out, err
	}
	if out.Image, out.Subject, out.Study, out.ID, err = mimicPath(image); err != nil {
		return out, r.wrong("image", "%v", err)
	}
	var turns []struct {
		From  string          `json:"from"`
		Value json.RawMessage `json:"value"`
	}
	if err := json.Unmarshal(r.fields["conversations"], &turns); err != nil || len(turns) != 2 || turns[0].From != "human" || turns[1].From != "gpt" {
		return out, r.wrong("conversations", "is not one turn of human and one of gpt")
	}
	var findings *string
	if json.Unmarshal(turns[1].Value, &findings) == nil && findings != nil {
		out.Findings, out.HasFindings = strings.TrimSpace(*findings), true
	}
	return out, nil
}

// mimicPath reads a picture's path in the layout of MIMIC-CXR-JPG, with or without what
// stands before files/, and its identifiers.
func mimicPath(image string) (full, subject, study, id string, err error) {
	p := path.Clean(strings.TrimSpace(image))
	if at := strings.LastIndex("/"+p, "/"+filesFolder+"/"); at >= 0 {
		p = p[at+len(filesFolder)+1:]
	} else {
		p = strings.TrimPrefix(p, "mimic/")
	}
	parts := strings.Split(p, "/")
	if len(parts) != 4 {
		return "", "", "", "", fmt.Errorf("is no path as files/pNN/pSUBJECT/sSTUDY/ID.jpg")
	}
	subject, study = strings.TrimPrefix(parts[1], "p"), strings.TrimPrefix(parts[2], "s")
	id = strings.TrimSuffix(parts[3], path.Ext(parts[3]))
	full, err = ImagePath(subject, study, id)
	if err == nil && full != filesFolder+"/"+strings.TrimSuffix(p, path.Ext(p))+".jpg" {
		err = fmt.Errorf("is no path as files/pNN/pSUBJECT/sSTUDY/ID.jpg")
	}
	return full, subject, study, id, err
}
