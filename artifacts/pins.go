package artifacts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Pin keeps things from garbage collection: the blobs of Roots and everything their
// JSON refers to, and the records of Keys.
//
// An open pin stands for a reproduction under way, whose results are not all known yet, and
// that may reuse any record: while there is one, garbage collection keeps every record, and
// everything that was written since Created, unless told to ignore it. An open pin with Until
// counts until then, and goes with the next collection.
type Pin struct {
	Format  string    `json:"format"`
	Name    string    `json:"name"`
	Roots   []Ref     `json:"roots,omitempty"`
	Keys    []Key     `json:"keys,omitempty"`
	Open    bool      `json:"open,omitempty"`
	Note    string    `json:"note,omitempty"`
	Created time.Time `json:"created"`
	Until   time.Time `json:"until,omitzero"`
}

// OpenAt reports whether the pin stands for something under way at a time.
func (p Pin) OpenAt(t time.Time) bool { return p.Open && (p.Until.IsZero() || p.Until.After(t)) }

const pinFormat = "cxrepro.pin/1"

// CheckPinName reports why name cannot name a pin: 1 to 128 letters, digits, "-", "_"
// and ".", not starting with a dot.
func CheckPinName(name string) error {
	if name == "" || len(name) > 128 || name[0] == '.' {
		return fmt.Errorf("pin name %q: want 1 to 128 characters, no dot first", clip(name))
	}
	for _, c := range name {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", c) {
			return fmt.Errorf("pin name %q: character %q; want letters, digits, dashes, underscores and dots", clip(name), c)
		}
	}
	return nil
}

// SetPin writes the pin, over an earlier one of the same name. Format and, when zero,
// Created are filled in.
func (r *Repository) SetPin(ctx context.Context, p Pin) error {
	if err := CheckPinName(p.Name); err != nil {
		return err
	}
	p.Format = pinFormat
	if p.Created.IsZero() {
		p.Created = r.host.Now()
	}
	p.Created, p.Until = p.Created.UTC(), p.Until.UTC()
	body, err := Canonical(p)
	if err != nil {
		return err
	}
	_, err = r.bucket.Put(ctx, areaPins+p.Name, bytes.NewReader(body), PutOptions{
		MediaType: "application/json", SHA256: Sum(body), Multipart: MultipartNever,
	})
	if err != nil {
		return fmt.Errorf("pin %s: %w", p.Name, err)
	}
	return nil
}

// Pin returns the pin of that name. Errors: ErrNotFound.
func (r *Repository) Pin(ctx context.Context, name string) (Pin, error) {
	if err := CheckPinName(name); err != nil {
		return Pin{}, err
	}
	data, _, err := r.bucket.Read(ctx, areaPins+name)
	if err != nil {
		return Pin{}, fmt.Errorf("pin %s: %w", name, err)
	}
	var p Pin
	if err := json.Unmarshal(data, &p); err != nil || p.Format != pinFormat || p.Name != name {
		return Pin{}, &BucketError{Op: "read pin", Bucket: r.bucket.URL(), Object: areaPins + name, Class: Permanent,
			Hint: "what it keeps is not known: `cxrepro artifacts pin --remove " + name + "` takes it away, `cxrepro artifacts pin " + name + " KEY...` replaces it",
			Err:  errForeign}
	}
	return p, nil
}

// RemovePin removes the pin, even one that cannot be read. Errors: ErrNotFound.
func (r *Repository) RemovePin(ctx context.Context, name string) error {
	if err := CheckPinName(name); err != nil {
		return err
	}
	if _, err := r.bucket.Stat(ctx, areaPins+name); err != nil {
		return fmt.Errorf("pin %s: %w", name, err)
	}
	return r.bucket.Delete(ctx, areaPins+name)
}

// Pins returns every pin, by name. A pin that cannot be read is an error: what it keeps
// is not known. Objects whose names cannot name a pin are passed over; Verify names them.
func (r *Repository) Pins(ctx context.Context) ([]Pin, error) {
	var out []Pin
	err := r.bucket.List(ctx, areaPins, "", func(info Info) error {
		name := strings.TrimPrefix(info.Name, areaPins)
		if CheckPinName(name) != nil {
			return nil
		}
		p, err := r.Pin(ctx, name)
		if errors.Is(err, ErrNotFound) {
			return nil // removed meanwhile
		}
		out = append(out, p)
		return err
	})
	return out, err
}
