package rewardserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"cxrepro/artifacts"
)

// Fault is why a request was refused as a whole.
type Fault struct {
	Status  int    `json:"-"`
	Code    string `json:"code"`
	Message string `json:"message"`
	// Field is the place in the request, for example samples[3].trajectory.turn1.
	Field string `json:"field,omitempty"`
	// After is when to come again; 0 for never.
	After time.Duration `json:"-"`
}

// Error says field and message.
func (f *Fault) Error() string { return strings.TrimSpace(f.Field + " " + f.Message) }

func schemaFault(field, format string, args ...any) *Fault {
	return &Fault{Status: http.StatusBadRequest, Code: "schema", Field: field, Message: fmt.Sprintf(format, args...)}
}

// refused is a request that can be read and is about something that is not so.
func refused(code, field, format string, args ...any) *Fault {
	return &Fault{Status: http.StatusUnprocessableEntity, Code: code, Field: field, Message: fmt.Sprintf(format, args...)}
}

// unread turns what the JSON decoder says into a fault.
func unread(err error) error {
	var large *http.MaxBytesError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &large):
		return &Fault{Status: http.StatusRequestEntityTooLarge, Code: "too_large", Message: fmt.Sprintf("the request is larger than %d bytes; send fewer samples", large.Limit)}
	case errors.As(err, &kind):
		return schemaFault(kind.Field, "is a %s, want %s", kind.Value, kind.Type)
	case errors.Is(err, io.EOF):
		return schemaFault("", "the request is empty")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return schemaFault("", "the request ends in the middle")
	}
	text := strings.TrimPrefix(err.Error(), "json: ")
	if name, unknown := strings.CutPrefix(text, "unknown field "); unknown {
		return schemaFault(strings.Trim(name, `"`), "is a field that this service does not know")
	}
	return schemaFault("", "%s", text)
}

// faultOf gives an error its status. What the store says is passed on as "come again": it is not
// the request's fault.
func faultOf(err error) *Fault {
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	if errors.Is(err, artifacts.ErrClassRefused) || artifacts.ClassOf(err) == artifacts.Permanent {
		return &Fault{Status: http.StatusInternalServerError, Code: "store", Message: err.Error()}
	}
	return &Fault{Status: http.StatusServiceUnavailable, Code: "store", Message: err.Error(), After: 5 * time.Second}
}

// write sends a fault.
func (f *Fault) write(w http.ResponseWriter) {
	body, err := marshal(map[string]*Fault{"error": f})
	if err != nil {
		panic(err) // texts only
	}
	if f.After > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((f.After+time.Second-1)/time.Second)))
	}
	if f.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	send(w, f.Status, body)
}

func send(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	// The client may be gone; there is nobody to tell.
	_, _ = w.Write(body)
}
