package review

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"

	"cxrepro/internal/report"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed templates/style.css
var styleCSS []byte

// pages are the parsed templates. They are part of the program, so a fault in one is a
// fault of the program; every test that renders loads them.
var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"number":  report.Number,
	"inc":     func(i int) int { return i + 1 },
	"percent": func(f float64) string { return fmt.Sprintf("%.1f %%", 100*f) },
	"width":   func(f float64) template.CSS { return template.CSS(fmt.Sprintf("width:%.2f%%", 100*f)) },
}).ParseFS(templateFiles, "templates/*.html"))

// navData is what the head of a page sees.
type navData struct {
	shared
	Current string
}

// Nav is the head of a page; the current one is marked in it.
func (s shared) Nav(current string) navData { return navData{s, current} }

func (b *builder) render(file, name string, data any) error {
	var out bytes.Buffer
	if err := pages.ExecuteTemplate(&out, name, data); err != nil {
		return err
	}
	b.pages++
	return b.sink.Put(file, out.Bytes())
}
