package xragent

import (
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// readCall reads the body of a call block. named reports that the JSON names one of the
// three tools, whatever its arguments are; earlier tells which calls so far, counted from
// 1, are region_parse; routed says that measure is a tool.
func readCall(body string, earlier map[int]bool, routed bool) (c Call, named bool, r Reason) {
	dec := json.NewDecoder(strings.NewReader(body))
	var object map[string]json.RawMessage
	if err := dec.Decode(&object); err != nil || object == nil {
		return Call{}, false, BadJSON
	}
	if _, err := dec.Token(); err != io.EOF {
		return Call{}, false, BadJSON
	}
	name, ok := text(object["name"])
	if !ok {
		return Call{}, false, BadJSON
	}
	c = Call{Name: name, Arguments: object["arguments"]}
	check, known := schemas[name]
	if name == ToolMeasure && !routed {
		known = false
	}
	if !known {
		return c, false, UnknownTool
	}
	var args map[string]json.RawMessage
	if len(c.Arguments) == 0 || json.Unmarshal(c.Arguments, &args) != nil || args == nil || !check(args, earlier) {
		return c, true, BadArguments
	}
	return c, true, ""
}

// schemas checks the arguments of each tool.
var schemas = map[string]func(args map[string]json.RawMessage, earlier map[int]bool) bool{
	ToolCrop: func(args map[string]json.RawMessage, earlier map[int]bool) bool {
		box, hasBox := args["bbox"]
		region, hasRegion := args["region"]
		if hasBox == hasRegion || !only(args, "image", "bbox", "region") || !imageOK(args) {
			return false
		}
		if hasBox {
			return boxOK(box)
		}
		return regionOK(region, earlier)
	},
	ToolParse: func(args map[string]json.RawMessage, _ map[int]bool) bool {
		target, ok := text(args["target"])
		return ok && strings.TrimSpace(target) != "" && only(args, "image", "target") && imageOK(args)
	},
	ToolMeasure: func(args map[string]json.RawMessage, _ map[int]bool) bool {
		return only(args, "image") && imageOK(args)
	},
	ToolLookup: func(args map[string]json.RawMessage, _ map[int]bool) bool {
		var list []json.RawMessage
		if !only(args, "conditions") || json.Unmarshal(args["conditions"], &list) != nil || len(list) < 1 || len(list) > 4 {
			return false
		}
		for _, raw := range list {
			if s, ok := text(raw); !ok || strings.TrimSpace(s) == "" {
				return false
			}
		}
		return true
	},
}

func only(args map[string]json.RawMessage, names ...string) bool {
	n := 0
	for _, name := range names {
		if _, ok := args[name]; ok {
			n++
		}
	}
	return n == len(args)
}

// text reads a JSON string; null and other types are not one.
func text(raw json.RawMessage) (string, bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}

var integer = regexp.MustCompile(`^-?[0-9]+$`)

// whole reads a JSON integer; numbers beyond the range of int64 are cut to it.
func whole(raw json.RawMessage) (int64, bool) {
	s := string(bytes.TrimSpace(raw))
	if !integer.MatchString(s) {
		return 0, false
	}
	n, _ := strconv.ParseInt(s, 10, 64) // out of range gives the nearest bound
	return n, true
}

func imageOK(args map[string]json.RawMessage) bool {
	raw, ok := args["image"]
	if !ok {
		return true
	}
	n, ok := whole(raw)
	return ok && n >= 0
}

// boxOK accepts four integers with x1 < x2 and y1 < y2; what lies beyond 0..1000 is
// clamped when the crop is made.
func boxOK(raw json.RawMessage) bool {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || len(list) != 4 {
		return false
	}
	var v [4]int64
	for i, part := range list {
		n, ok := whole(part)
		if !ok {
			return false
		}
		v[i] = n
	}
	return v[0] < v[2] && v[1] < v[3]
}

// regionOK accepts a structure's name, or #k for an earlier region_parse of the plan.
func regionOK(raw json.RawMessage, earlier map[int]bool) bool {
	s, ok := text(raw)
	s = strings.TrimSpace(s)
	if !ok || s == "" {
		return false
	}
	if number, isRef := strings.CutPrefix(s, "#"); isRef {
		k, err := strconv.Atoi(number)
		return err == nil && earlier[k]
	}
	return true
}
