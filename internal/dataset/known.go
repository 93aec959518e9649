package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"cxrepro/internal/datause"
)

// Known is a data set whose terms are known here. The zero value means "some other".
type Known uint8

// The known data sets.
const (
	MIMICCXRJPG    Known = 1
	ChestImaGenome Known = 2
	CheXmaskDB     Known = 3
	NIHChestXray14 Known = 4
	Phantoms       Known = 5
	CXReasonBench  Known = 6
	LLaVARadTexts  Known = 7
	SLAKE          Known = 8
	OpenI          Known = 9
	RadReStructQA  Known = 10
)

const lastKnown = RadReStructQA

type knownFacts struct {
	name    string
	spelled []string // names by which people write it, lower case, without punctuation
	use     datause.Class
	terms   string
}

var knownTable = [...]knownFacts{
	MIMICCXRJPG:    {"MIMIC-CXR-JPG", []string{"mimiccxrjpg", "mimiccxr", "mimic"}, datause.Credentialed, "PhysioNet Credentialed Health Data License 1.5.0"},
	ChestImaGenome: {"Chest ImaGenome", []string{"chestimagenome", "imagenome"}, datause.Credentialed, "PhysioNet Credentialed Health Data License 1.5.0"},
	CheXmaskDB:     {"CheXmask", []string{"chexmask"}, datause.PublicAttribution, "CC BY 4.0"},
	NIHChestXray14: {"NIH ChestX-ray14", []string{"nihchestxray14", "chestxray14", "nihcxr14", "nih"}, datause.PublicAttribution, "free to use, the NIH Clinical Center and Wang et al. (CVPR 2017) must be named"},
	CXReasonBench:  {"CXReasonBench", []string{"cxreasonbench", "chexstruct", "chexstructcxreasonbench"}, datause.Credentialed, "PhysioNet Credentialed Health Data License 1.5.0"},
	LLaVARadTexts:  {"LLaVA-Rad MIMIC-CXR annotations", []string{"llavaradmimiccxrannotations", "llavarad"}, datause.Credentialed, "PhysioNet Credentialed Health Data License 1.5.0"},
	SLAKE:          {"SLAKE", []string{"slake", "slake10"}, datause.PublicAttribution, "CC BY 4.0"},
	OpenI:          {"OpenI", []string{"openi", "nlmcxr", "iuxray", "indianauniversity"}, datause.PublicAttribution, "free to use, the Indiana University collection (Demner-Fushman et al. 2016) must be named"},
	RadReStructQA:  {"Rad-ReStruct", []string{"radrestruct"}, datause.PublicAttribution, "MIT; its pictures are those of OpenI"},
	Phantoms:       {"phantoms", []string{"phantoms", "phantom"}, datause.Synthetic, "made by this program"},
}

// String returns the data set's name, "other" for the zero value.
func (k Known) String() string {
	if k < MIMICCXRJPG || k > lastKnown {
		return "other"
	}
	return knownTable[k].name
}

// DataUse returns the class that the data set's terms ask for, invalid for other ones.
func (k Known) DataUse() datause.Class {
	if k < MIMICCXRJPG || k > lastKnown {
		return 0
	}
	return knownTable[k].use
}

// Terms names the licence or conditions, empty for other data sets.
func (k Known) Terms() string {
	if k < MIMICCXRJPG || k > lastKnown {
		return ""
	}
	return knownTable[k].terms
}

// ByName recognises a data set by its name, whatever the case and punctuation.
func ByName(name string) Known {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(name))
	for k := MIMICCXRJPG; k <= lastKnown; k++ {
		for _, s := range knownTable[k].spelled {
			if s == plain {
				return k
			}
		}
	}
	return 0
}

// DeclarationFile is where a folder says what it holds. Folders as published have none.
const DeclarationFile = "cxrepro-dataset.json"

const declarationFormat = "cxrepro-dataset-1"

// Declaration is what a folder says about itself.
type Declaration struct {
	Format string `json:"format"`
	// Name is the data set's name; a known one keeps its class.
	Name    string        `json:"name"`
	DataUse datause.Class `json:"data_use"`
	// Attribution names the source where the class asks for it.
	Attribution string `json:"attribution,omitempty"`
	// MadeBy says how the folder came about, for people.
	MadeBy string `json:"made_by,omitempty"`
}

// Encode returns the file's bytes.
//
// Errors: no name, an unset class, or a class below that of a known data set.
func (d Declaration) Encode() ([]byte, error) {
	d.Format = declarationFormat
	if err := d.check(); err != nil {
		return nil, err
	}
	data, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", DeclarationFile, err)
	}
	return append(data, '\n'), nil
}

func (d Declaration) check() error {
	if d.Format != declarationFormat {
		return fmt.Errorf("%s: format is %q, want %q", DeclarationFile, clip(d.Format), declarationFormat)
	}
	if strings.TrimSpace(d.Name) == "" {
		return fmt.Errorf("%s: name is empty", DeclarationFile)
	}
	if !d.DataUse.Valid() {
		return fmt.Errorf("%s: data_use is missing", DeclarationFile)
	}
	if k := ByName(d.Name); k != 0 && d.DataUse < k.DataUse() {
		return &LoweredError{Where: DeclarationFile, Asked: d.DataUse, Floor: k.DataUse(), Because: fmt.Sprintf("%s comes under: %s", k, k.Terms())}
	}
	return nil
}

// ReadDeclaration reads a folder's declaration; ok is false when it has none.
func ReadDeclaration(fsys fs.FS) (d Declaration, ok bool, err error) {
	data, err := fs.ReadFile(fsys, DeclarationFile)
	if errors.Is(err, fs.ErrNotExist) {
		return Declaration{}, false, nil
	}
	if err != nil {
		return Declaration{}, false, fmt.Errorf("read %s: %w", DeclarationFile, err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		return Declaration{}, false, fmt.Errorf("read %s: %w", DeclarationFile, err)
	}
	return d, true, d.check()
}

// LoweredError reports a class weaker than a data set's terms.
type LoweredError struct {
	Where        string // who asked: a file or a field
	Asked, Floor datause.Class
	Because      string
}

func (e *LoweredError) Error() string {
	return fmt.Sprintf("%s: data_use %s is weaker than %s, which is needed because %s", e.Where, e.Asked, e.Floor, e.Because)
}

// DataUse returns the class of a folder that a spec calls name and gives the class asked
// (0: none). The spec may raise the class, never lower it.
//
// layout is the data set whose layout the folder has; a folder without a declaration counts
// as that data set. The class is the strictest of the folder's, the name's and the spec's.
// Errors: *LoweredError when the spec asks for less.
func DataUse(fsys fs.FS, layout Known, name string, asked datause.Class) (datause.Class, error) {
	d, declared, err := ReadDeclaration(fsys)
	if err != nil {
		return 0, err
	}
	floor, because := layout.DataUse(), fmt.Sprintf("a folder without %s counts as %s", DeclarationFile, layout)
	if declared {
		floor, because = d.DataUse, fmt.Sprintf("the folder declares itself %s", d.DataUse)
	}
	if k := ByName(name); k != 0 && k.DataUse() > floor {
		floor, because = k.DataUse(), fmt.Sprintf("%s comes under: %s", k, k.Terms())
	}
	if !floor.Valid() {
		return 0, fmt.Errorf("data use of %s: nothing is known about it; declare a class in %s", name, DeclarationFile)
	}
	if asked != 0 && asked < floor {
		return 0, &LoweredError{Where: "spec", Asked: asked, Floor: floor, Because: because}
	}
	return max(floor, asked), nil
}
