package onnx

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// CardFile is the text of a model's card and the way to the model file, which lies beside it.
// What a card says is its reader's business.
type CardFile struct {
	Path string // for messages
	Text []byte

	open func(name string) ([]byte, error)
}

// ReadCard reads a card; the model file is not opened.
func ReadCard(file string) (*CardFile, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return &CardFile{Path: file, Text: text, open: func(name string) ([]byte, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(file), filepath.FromSlash(name))
		}
		return os.ReadFile(name)
	}}, nil
}

// ReadCardFS is ReadCard for a card and a model that are part of the program.
func ReadCardFS(fsys fs.FS, file string) (*CardFile, error) {
	text, err := fs.ReadFile(fsys, file)
	if err != nil {
		return nil, err
	}
	return &CardFile{Path: file, Text: text, open: func(name string) ([]byte, error) {
		return fs.ReadFile(fsys, path.Join(path.Dir(file), name))
	}}, nil
}

// Model returns the bytes of the model file that the card names. They are not verified.
//
// Errors: those of reading; for a file that is not there, with the way out.
func (c *CardFile) Model(name string) ([]byte, error) {
	data, err := c.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; hint: put the model file %s beside the card", err, name)
	}
	return data, err
}
