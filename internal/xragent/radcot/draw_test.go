package radcot_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"cxrepro/internal/dataset"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/radcot"
)

// TestDraw holds what a drawn set promises: sizes, the cap, one part a study, nothing hidden in
// the order, and no dependence on the order of records.
func TestDraw(t *testing.T) {
	spec := smallSpec()
	set, ex := drawn(t, spec)
	groups, none, reports := map[string]radcot.Part{}, 0, 0
	for i, c := range set.Candidates {
		require.Equal(t, "", string(ex.Excludes(&set.Candidates[i])))
		if c.Source == radcot.SourceMIMIC {
			require.Equal(t, radcot.Part(""), groups[c.Group], "a study in two places")
			groups[c.Group] = c.Part
		}
		if c.Part == radcot.Report {
			reports++
			if c.Labels[dataset.NoFinding-1] == '+' {
				none++
			}
		}
	}
	require.Equal(t, 40, reports)
	require.LessOrEqual(t, none, 13, "a third of 40")
	require.Equal(t, 13, none, "there are more without a finding than the cap lets in")
	left := map[string]int{}
	for _, c := range set.Left {
		left[c.Name] = c.N
	}
	for _, code := range []radcot.Code{radcot.LeftView, radcot.LeftNoFindings, radcot.LeftShortFindings, radcot.LeftPointer, radcot.LeftNoPicture} {
		require.NotZero(t, left["mimic/"+string(code)], code)
	}
	require.NotZero(t, left["slake/"+string(radcot.LeftSlakeEval)])
	require.NotZero(t, left["slake/"+string(radcot.LeftNotChest)])
	require.NotZero(t, left["rad_restruct/"+string(radcot.LeftOpenI)])

	src, items := sources(t)
	data, err := fs.ReadFile(src.LLaVARad, "chat_train_MIMIC_CXR_all_gpt4extract_rulebased_v1.json")
	require.NoError(t, err)
	var records []json.RawMessage
	require.NoError(t, json.Unmarshal(data, &records))
	slices.Reverse(records)
	data, err = json.Marshal(records)
	require.NoError(t, err)
	declared, err := fs.ReadFile(src.LLaVARad, dataset.DeclarationFile)
	require.NoError(t, err)
	src.LLaVARad = fstest.MapFS{"chat_train_b.json": &fstest.MapFile{Data: data}, dataset.DeclarationFile: &fstest.MapFile{Data: declared}}
	ex, err = radcot.NewExclusions(src.Slake, items, spec.Waiver)
	require.NoError(t, err)
	pool, err := radcot.Gather(spec, src, ex)
	require.NoError(t, err)
	again, err := radcot.Draw(spec, pool)
	require.NoError(t, err)
	one, err := set.Encode()
	require.NoError(t, err)
	two, err := again.Encode()
	require.NoError(t, err)
	require.Equal(t, string(one), string(two), "the order of records shows")
	back, err := radcot.ReadSet(one)
	require.NoError(t, err)
	require.Equal(t, set, back)

	spec.Seed++
	other, _ := drawn(t, spec)
	require.NotEqual(t, set.Candidates, other.Candidates)
	spec.Amounts.Report.Draw = 4000
	short, _ := drawn(t, spec)
	require.Equal(t, "report", short.Short[0].Name)
	n, without := 0, 0
	for _, c := range short.Candidates {
		if c.Part == radcot.Report {
			n++
			if c.Labels[dataset.NoFinding-1] == '+' {
				without++
			}
		}
	}
	require.LessOrEqual(t, 3*without, n, "the cap holds over a pool that is too small")
}

// TestBinarySources holds that every source of the binary questions gives some.
func TestBinarySources(t *testing.T) {
	for _, b := range []radcot.BinarySource{radcot.BinaryRadReStruct, radcot.BinaryOpenI, radcot.BinarySlake, radcot.BinaryItems} {
		spec := smallSpec()
		spec.Binary, spec.Amounts = b, radcot.Amounts{Binary: radcot.Amount{Draw: 12, Want: 5}}
		src, items := sources(t)
		for i := range 20 {
			src.Items = append(src.Items, xragent.Item{ID: "x/" + string(rune('a'+i)), Pictures: []xragent.ItemPicture{{Path: "a/" + string(rune('a'+i)) + ".png"}},
				Question: xragent.Question{Type: xragent.YesNo, Text: "Is it?", Key: []string{"Yes", "No"}[i%2]}})
		}
		src.ItemsUse = dataset.Phantoms.DataUse()
		ex, err := radcot.NewExclusions(src.Slake, items, spec.Waiver)
		require.NoError(t, err)
		pool, err := radcot.Gather(spec, src, ex)
		require.NoError(t, err, b)
		set, err := radcot.Draw(spec, pool)
		require.NoError(t, err)
		require.Len(t, set.Candidates, 12, b)
		yes := 0
		for _, c := range set.Candidates {
			require.Equal(t, b == radcot.BinaryOpenI, c.Written(), b)
			if !c.Written() && c.Question.Key == "Yes" {
				yes++
			}
		}
		if b != radcot.BinaryOpenI {
			require.Equal(t, 6, yes, "%s: as many of each answer", b)
		}
	}
}

// TestMissingSources holds that a part without its source says which one, and the way out.
func TestMissingSources(t *testing.T) {
	all, items := sources(t)
	ex, err := radcot.NewExclusions(all.Slake, items, "x")
	require.NoError(t, err)
	seen := map[string]bool{}
	for name, change := range map[string]func(*radcot.Sources){
		"LLaVA-Rad": func(s *radcot.Sources) { s.LLaVARad = nil }, "MIMIC-CXR-JPG": func(s *radcot.Sources) { s.MIMIC = nil },
		"labels": func(s *radcot.Sources) { s.Labels = nil }, "SLAKE": func(s *radcot.Sources) { s.Slake = nil },
		"Rad-ReStruct": func(s *radcot.Sources) { s.RadReStruct = nil }, "OpenI": func(s *radcot.Sources) { s.OpenI = nil },
	} {
		src := all
		change(&src)
		_, err := radcot.Gather(smallSpec(), src, ex)
		require.ErrorContains(t, err, name)
		require.ErrorContains(t, err, "; hint: ")
		require.False(t, seen[err.Error()])
		seen[err.Error()] = true
	}
}

// TestPlantedLeaks holds that every kind of evaluation picture is kept out when candidates are
// gathered, and that a planted one stops the writing of examples.
func TestPlantedLeaks(t *testing.T) {
	src, items := sources(t)
	ex, err := radcot.NewExclusions(src.Slake, items, "a fixture")
	require.NoError(t, err)
	require.NotEmpty(t, ex.OpenI)
	sibling := dataset.OpenIReportOf(ex.OpenI[0]) + "_9_IM-0001-3001.png"
	for path, want := range map[string]radcot.Code{
		"NLMCXR_png/" + ex.OpenI[0] + ".png":           radcot.LeftOpenI,
		"images/" + sibling:                            radcot.LeftSibling,
		"images/" + strings.TrimPrefix(sibling, "CXR"): radcot.LeftSibling,
		"eurorad/1234/figure_1.jpg":                    radcot.LeftEurorad,
		"figures/1234/figure_1.jpg":                    radcot.LeftEurorad,
		ex.Slake[0]:                                    radcot.LeftSlakeEval,
		"x/CXR99999_1_IM-1.png":                        "",
	} {
		require.Equal(t, want, ex.Excludes(&radcot.Candidate{Source: radcot.SourceItems, Picture: xragent.ItemPicture{Path: path}}), path)
	}
	set, _ := drawn(t, smallSpec())
	set.Candidates = set.Candidates[len(set.Candidates)-1:]
	leak := &set.Candidates[0]
	leak.Picture.Path = "NLMCXR_png/" + ex.OpenI[0] + ".png"
	closing := radcot.NewClosing(set, leak.Picture.Image.Digest, ex)
	require.NoError(t, closing.Add(&radcot.Outcome{Example: &radcot.Example{ID: leak.ID, Part: leak.Part, Source: leak.Source, DataUse: leak.DataUse, Picture: leak.Picture}}))
	_, err = closing.Close()
	var overlap *radcot.OverlapError
	require.ErrorAs(t, err, &overlap)
	require.Equal(t, []radcot.Count{{Name: string(radcot.LeftOpenI), N: 1}}, overlap.Counts)

	_, err = radcot.NewExclusions(src.Slake, items, " ")
	require.ErrorContains(t, err, "the paper has 363")
	require.ErrorContains(t, err, "the paper has 452")
	data, err := json.Marshal(ex)
	require.NoError(t, err)
	back, err := radcot.ReadExclusions(data)
	require.NoError(t, err)
	require.Equal(t, ex, back)
}

// TestTrivial holds which findings are no reference.
func TestTrivial(t *testing.T) {
	src, items := sources(t)
	ex, err := radcot.NewExclusions(nil, items, "x")
	require.NoError(t, err)
	spec := smallSpec()
	spec.Amounts = radcot.Amounts{Report: radcot.Amount{Draw: 1}}
	data, err := fs.ReadFile(src.LLaVARad, "chat_train_MIMIC_CXR_all_gpt4extract_rulebased_v1.json")
	require.NoError(t, err)
	var records []map[string]any
	require.NoError(t, json.Unmarshal(data, &records))
	for text, want := range map[string]radcot.Code{
		"The heart is normal and lungs are clear bilaterally.":                            "",
		"The heart is normal and lungs are clear.":                                        radcot.LeftShortFindings + "-no", // eight words
		"Heart is normal and lungs are clear.":                                            radcot.LeftShortFindings,
		"No significant interval change compared with the previous study of the chest.":   radcot.LeftPointer,
		"Please refer to the report of the CT chest dated 4/5/2015 for full details.":     radcot.LeftPointer,
		"No significant change from the prior study. There is a new left effusion.":       "",
		"The heart is normal <answer> and the lungs are clear on both sides of the chest": radcot.LeftTags,
		"": radcot.LeftNoFindings,
	} {
		one := records[0]
		one["conversations"] = []map[string]any{{"from": "human", "value": "x"}, {"from": "gpt", "value": text}}
		data, err := json.Marshal([]any{one})
		require.NoError(t, err)
		src.LLaVARad = fstest.MapFS{"chat_train_b.json": &fstest.MapFile{Data: data}}
		pool, err := radcot.Gather(spec, src, ex)
		require.NoError(t, err)
		set, err := radcot.Draw(spec, pool)
		require.NoError(t, err)
		if strings.HasSuffix(string(want), "-no") {
			want = ""
		}
		if want == "" {
			require.Len(t, set.Candidates, 1, text)
			continue
		}
		require.Empty(t, set.Candidates, text)
		require.Equal(t, []radcot.Count{{Name: "mimic/" + string(want), N: 1}}, set.Left, text)
	}
}

// TestSpec holds that every wrong field is named.
func TestSpec(t *testing.T) {
	require.NoError(t, radcot.DefaultSpec().Validate())
	for field, change := range map[string]func(*radcot.Spec){
		"name": func(s *radcot.Spec) { s.Name = " " }, "binary": func(s *radcot.Spec) { s.Binary = "x" }, "no_finding_cap": func(s *radcot.Spec) { s.NoFindingCap = 1.1 },
		"options": func(s *radcot.Spec) { s.Options = 1 }, "amounts.mcq": func(s *radcot.Spec) { s.Amounts.Choice.Draw = 1 }, "rules.min_words": func(s *radcot.Spec) { s.Rules.MaxWords = 1 },
		"rules.similarity": func(s *radcot.Spec) { s.Rules.Similarity = 0 }, "rules.attempts": func(s *radcot.Spec) { s.Rules.Attempts = 0 },
		"rules.findings_words": func(s *radcot.Spec) { s.Rules.FindingsWords = 0 }, "rules.leakage": func(s *radcot.Spec) { s.Rules.Leakage = "" },
		"agent": func(s *radcot.Spec) { s.Agent.Off = []string{"x"} },
	} {
		s := radcot.DefaultSpec()
		change(&s)
		require.ErrorContains(t, s.Validate(), "spec: "+field)
	}
	var refused *radcot.OverlapError
	require.False(t, errors.As(radcot.DefaultSpec().Validate(), &refused))
}

// TestBalance holds the letters: drawn evenly, and the test statistic that says so.
func TestBalance(t *testing.T) {
	spec := radcot.DefaultSpec()
	var list []radcot.Example
	for i := range 4000 {
		c := &radcot.Candidate{Part: radcot.Choice, Source: radcot.SourceMIMIC, Picture: xragent.ItemPicture{Path: string(rune('a'+i%26)) + strings.Repeat("x", i/26)}}
		_, q := spec.Question(c, xragent.Turn{Text: reply("t", `{"question": "What is it?", "correct": "one", "wrong": ["two", "three", "four"]}`), FinishReason: "stop"})
		list = append(list, radcot.Example{Question: q})
	}
	b := radcot.Balances(list)
	require.Len(t, b, 1)
	require.Greater(t, b[0].P, 0.01, "%s", b[0])
	// Worked by hand: 10, 20, 30, 40 of 25 expected each is (225+25+25+225)/25 = 20; p = 0.00017.
	list = nil
	for k, n := range []int{10, 20, 30, 40} {
		for range n {
			list = append(list, radcot.Example{Question: &xragent.Question{Type: xragent.Lettered, Options: make([]string, 4), Key: string(rune('A' + k))}})
		}
	}
	b = radcot.Balances(list)
	require.InDelta(t, 20, b[0].ChiSquare, 1e-12)
	require.InDelta(t, 0.00017, b[0].P, 0.00001)
}

// TestAudit holds that all 14 categories are counted and missing ones named.
func TestAudit(t *testing.T) {
	list := []radcot.Example{{ID: "report-00001", Part: radcot.Report}, {ID: "report-00002", Part: radcot.Report}, {ID: "mcq-00001", Part: radcot.Choice}}
	a := radcot.AuditReports("table", list, func(e *radcot.Example) string {
		return map[string]string{"report-00001": "+++++++-++++++", "mcq-00001": "++++++++++++++"}[e.ID]
	})
	require.Equal(t, []string{"Lung Opacity"}, a.Missing)
	require.Equal(t, []int{2, 1, 14}, []int{a.Examples, a.Labelled, len(a.Categories)})
	require.False(t, a.Complete())
	require.Contains(t, a.String(), "Lung Opacity")
}
