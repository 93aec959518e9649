package dataset

import (
	"errors"
	"iter"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// texts makes a folder out of names and contents.
func texts(pairs ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return m
}

func readAll[T any](t *testing.T, seq iter.Seq2[T, error]) ([]T, error) {
	t.Helper()
	var out []T
	for v, err := range seq {
		if err != nil {
			return out, err
		}
		out = append(out, v)
	}
	return out, nil
}

const radFile = "chat_train_MIMIC_CXR_all_gpt4extract_rulebased_v1.json"

func radRecord(image, view, value string) string {
	return `{"id":"a","image":"` + image + `","view":` + view + `,"generate_method":"rule-based","reason":null,"conversations":[{"from":"human","value":"<image>\nDescribe."},{"from":"gpt","value":` + value + `}]}`
}

func TestLLaVARad(t *testing.T) {
	const id = "0123abcd-01234567-89abcdef-01234567-89abcdef"
	good := "[" + strings.Join([]string{
		radRecord("mimic/p10/p10000032/s50414267/"+id+".jpg", `"PA"`, `" The heart is normal. "`),
		radRecord("files/p10/p10000032/s50414267/"+id+".jpg", `null`, `null`),
		radRecord("/data/x/files/p10/p10000032/s50414268/"+id+".png", `"lateral"`, `12`),
	}, ",") + "]"
	l, err := OpenLLaVARad(texts(radFile, good))
	require.NoError(t, err)
	list, err := readAll(t, l.Records())
	require.NoError(t, err)
	require.Len(t, list, 3)
	require.Equal(t, LLaVARadRecord{Number: 1, Image: "files/p10/p10000032/s50414267/" + id + ".jpg", Subject: "10000032", Study: "50414267", ID: id,
		View: "PA", Method: "rule-based", Findings: "The heart is normal.", HasFindings: true}, list[0])
	require.False(t, list[1].HasFindings, "null findings are absent")
	require.False(t, list[2].HasFindings, "findings that are no text are absent")
	require.Equal(t, []string{"", "LATERAL"}, []string{list[1].View, list[2].View})

	_, err = OpenLLaVARad(texts("x.json", ""))
	require.ErrorContains(t, err, "is missing")
	_, err = OpenLLaVARad(texts(radFile, "[]", "chat_train_b.json", "[]"))
	require.ErrorContains(t, err, "two training files")
}

// TestBrokenRecords holds broken files, with the words that tell each from the others.
func TestBrokenRecords(t *testing.T) {
	const id = "0123abcd-01234567-89abcdef-01234567-89abcdef"
	one := radRecord("files/p10/p10000032/s50414267/"+id+".jpg", `"PA"`, `"x"`)
	rad := func(text string) error {
		l, err := OpenLLaVARad(texts(radFile, text))
		require.NoError(t, err)
		_, err = readAll(t, l.Records())
		return err
	}
	slake := func(text string) error {
		_, err := readAll(t, SlakeRecords(texts("train.json", text), SplitTrain))
		return err
	}
	const question = `{"img_name":"xmlab1/source.jpg","question":"Q?","answer":"Yes","q_lang":"en","location":"Lung","modality":"X-Ray","answer_type":"CLOSED","qid":7}`
	openi := func(name, text string) error {
		_, err := readAll(t, OpenIReports(texts("ecgen-radiology/"+name, text)))
		return err
	}
	restruct := func(text string) error {
		r, err := OpenRadReStruct(texts(radReStructImages, `{"5":["CXR5_IM-1"]}`, "train_qa_pairs/5.json", text))
		require.NoError(t, err)
		_, err = readAll(t, r.Questions(SplitTrain))
		return err
	}
	cases := []struct {
		name string
		err  error
		want []string
	}{
		{"no array", rad(`{"a":1}`), []string{radFile, "is no JSON array"}},
		{"breaks off", rad("[" + one), []string{"record 1", "breaks off after this record"}},
		{"breaks off inside", rad("[" + one + `,{"id":`), []string{"record 2", "damaged or breaks off"}},
		{"goes on", rad("[" + one + "] []"), []string{"after the end of the array"}},
		{"no object", rad(`[7]`), []string{"record 1", "is no JSON object"}},
		{"image", rad(`[{"conversations":[]}]`), []string{"field image", "is missing"}},
		{"image type", rad(`[{"image":3}]`), []string{"field image", "is no text"}},
		{"image path", rad("[" + radRecord("a/b.jpg", `"PA"`, `"x"`) + "]"), []string{"field image", "is no path as"}},
		{"subject", rad("[" + radRecord("files/p10/p1/s50414267/"+id+".jpg", `"PA"`, `"x"`) + "]"), []string{"field image", "subject_id"}},
		{"conversations", rad(strings.Replace("["+one+"]", `"human"`, `"gpt"`, 1)), []string{"field conversations"}},
		{"qid", slake("[" + strings.Replace(question, `7`, `"x"`, 1) + "]"), []string{"train.json", "field qid", "no whole number"}},
		{"language", slake("[" + strings.Replace(question, `"en"`, `"fr"`, 1) + "]"), []string{"field q_lang", "neither en nor zh"}},
		{"answer type", slake("[" + strings.Replace(question, `"CLOSED"`, `"closed"`, 1) + "]"), []string{"field answer_type"}},
		{"img_name", slake("[" + strings.Replace(question, `xmlab1/source.jpg`, `source.jpg`, 1) + "]"), []string{"field img_name"}},
		{"outside", slake("[" + strings.Replace(question, `xmlab1/`, `../../`, 1) + "]"), []string{"field img_name"}},
		{"missing", slake("[" + strings.Replace(question, `"answer"`, `"reply"`, 1) + "]"), []string{"field answer", "is missing"}},
		{"xml", openi("5.xml", "<a><b></a>"), []string{"ecgen-radiology/5.xml", "no XML"}},
		{"uid", openi("5.xml", `<eCitation><uId id="CXR6"/></eCitation>`), []string{"field uId", "CXR5"}},
		{"file name", openi("a.xml", `<eCitation/>`), []string{"not named by a number"}},
		{"foreign picture", openi("5.xml", `<eCitation><uId id="CXR5"/><parentImage id="CXR51_1"/></eCitation>`), []string{"field parentImage"}},
		{"shape", restruct(`[["Q?",["yes"],[]]]`), []string{"train_qa_pairs/5.json record 1", "no list of question"}},
		{"kind", restruct(`[["Q?",["yes"],[],{"answer_type":"free","options":["yes"]}]]`), []string{"field answer_type"}},
		{"option", restruct(`[["Q?",["yes"],[],{"answer_type":"single_choice","options":["no"]}]]`), []string{"field answers", "no option"}},
	}
	seen := map[string]string{}
	for _, c := range cases {
		var r *RecordError
		require.True(t, errors.As(c.err, &r), "%s: %v", c.name, c.err)
		for _, w := range c.want {
			require.ErrorContains(t, c.err, w, c.name)
		}
		require.Contains(t, c.err.Error(), "; hint: ", c.name)
		require.NotContains(t, c.err.Error(), "50414267", "%s: an identifier in a message", c.name)
		require.Empty(t, seen[c.err.Error()], "%s reads as another fault", c.name)
		seen[c.err.Error()] = c.name
	}
}

func TestQuestionsAndReports(t *testing.T) {
	const question = `{"img_id":1,"img_name":"xmlab1/source.jpg","question":"Is the heart healthy? ","answer":" Yes","q_lang":"en","location":"Lung","modality":"X-Ray","answer_type":"CLOSED","base_type":"vqa","qid":7}`
	list, err := readAll(t, SlakeRecords(texts("test.json", "["+question+","+strings.Replace(question, `"Lung"`, `"Abdomen"`, 1)+"]"), SplitTest))
	require.NoError(t, err)
	require.Equal(t, SlakeRecord{Number: 1, QID: 7, Image: "imgs/xmlab1/source.jpg", Question: "Is the heart healthy?", Answer: "Yes", Language: "en", Location: "Lung", Modality: "X-Ray", AnswerType: "CLOSED"}, list[0])
	require.Equal(t, []bool{true, false}, []bool{list[0].ChestClosed(), list[1].ChestClosed()})

	report := func(n string) string {
		return `<eCitation><uId id="CXR` + n + `"/><MedlineCitation><Article><Abstract><AbstractText Label="COMPARISON">None.</AbstractText><AbstractText Label="FINDINGS">Clear
 lungs.</AbstractText></Abstract></Article></MedlineCitation><parentImage id="CXR` + n + `_IM-1-4001"/></eCitation>`
	}
	reports, err := readAll(t, OpenIReports(texts("ecgen-radiology/10.xml", report("10"), "ecgen-radiology/2.xml", report("2"))))
	require.NoError(t, err)
	require.Equal(t, []int{2, 10}, []int{reports[0].Number, reports[1].Number}, "by number, not by name")
	require.Equal(t, OpenIReport{Number: 2, UID: "CXR2", Comparison: "None.", Findings: "Clear lungs.", Images: []string{"CXR2_IM-1-4001"}}, reports[0])
	for name, want := range map[string]string{"CXR2_IM-1": "CXR2", "x/CXR12_1_IM.png": "CXR12", "12_IM-1": "CXR12", "CXR02_1": "", "CXRa_1": "", "CXR2": "", "CXR2_": ""} {
		require.Equal(t, want, OpenIReportOf(name), name)
	}

	r, err := OpenRadReStruct(texts(radReStructImages, `{"5":["CXR5_IM-1"]}`, "train_qa_pairs/5.json",
		`[["Is there anything?",["yes"],[],{"answer_type":"single_choice","options":["yes","no"],"path":"x"}],["What?",["a","b"],[["Is there anything?",["yes"]]],{"answer_type":"multi_choice","options":["a","b","c"]}]]`))
	require.NoError(t, err)
	questions, err := readAll(t, r.Questions(SplitTrain))
	require.NoError(t, err)
	require.Equal(t, RadReStructQuestion{Report: 5, Number: 1, Question: "Is there anything?", Answers: []string{"yes"}, Options: []string{"yes", "no"}, Single: true, Images: []string{"CXR5_IM-1"}}, questions[0])
	require.Equal(t, 1, questions[1].Depth)
	_, err = OpenRadReStruct(texts("x", ""))
	require.ErrorContains(t, err, radReStructImages)
}
