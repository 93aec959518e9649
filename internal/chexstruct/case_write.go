package chexstruct

import (
	"bytes"
	"encoding/json"
	"fmt"

	"cxrepro/internal/anatomy"
)

// Encode returns the case as a case file; [ParseCase] reads it back. Empty masks are left
// out, as the format has them.
//
// Errors: what [Input.Check] reports.
func (c *Case) Encode() ([]byte, error) {
	if err := c.Input.Check(); err != nil {
		return nil, err
	}
	m := c.Input.Masks
	j := struct {
		Format      string            `json:"format"`
		ID          string            `json:"id"`
		Size        [2]int            `json:"size"`
		View        string            `json:"view,omitempty"`
		NativeWidth int               `json:"native_width,omitempty"`
		Image       string            `json:"image,omitempty"`
		Boxes       map[string][4]int `json:"boxes"`
		Masks       map[string][]int  `json:"masks"`
		CheXmask    map[string][]int  `json:"chexmask"`
	}{
		Format: CaseFormat, ID: c.ID, Size: [2]int{m.GridH, m.GridW}, NativeWidth: c.Input.NativeWidth, Image: c.Image,
		Boxes: map[string][4]int{}, Masks: map[string][]int{}, CheXmask: map[string][]int{},
	}
	if c.Input.View.Valid() {
		j.View = c.Input.View.String()
	}
	for name, b := range c.Input.Boxes { // encoding/json sorts the names
		j.Boxes[name] = [4]int{b.X0, b.Y0, b.X1, b.Y1}
	}
	for _, s := range m.Present().List() {
		j.Masks[s.Name()] = m.Mask(s).Counts()
	}
	if r := c.Input.CheXmaskRightLung; r != nil {
		j.CheXmask[anatomy.RightLung.Name()] = r.Counts()
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(j); err != nil {
		return nil, fmt.Errorf("case %s: %w", c.ID, err)
	}
	return b.Bytes(), nil
}
