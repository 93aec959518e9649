package activities

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/datause"
	"cxrepro/internal/lvlm/endpoint"
	"cxrepro/internal/mask"
	"cxrepro/internal/phantom"
	"cxrepro/internal/provenance"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/tools"
)

// spotService is a text-prompted segmenter of the contract: it finds a square for "spot", nothing
// for "shade", and is down for anything else.
type spotService struct {
	t     *testing.T
	asked atomic.Int32
}

func (s *spotService) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	s.asked.Add(1)
	var in struct {
		Model, Prompt string
		Image         struct{ Data []byte }
	}
	if err := json.NewDecoder(q.Body).Decode(&in); err != nil {
		s.t.Error(err)
	}
	if _, err := png.Decode(bytes.NewReader(in.Image.Data)); err != nil {
		s.t.Errorf("%d bytes of picture: %v", base64.StdEncoding.EncodedLen(len(in.Image.Data)), err)
	}
	if in.Prompt != "spot" && in.Prompt != "shade" {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	found := mask.FromFunc(64, 64, func(x, y int) bool { return in.Prompt == "spot" && x >= 16 && x < 24 && y >= 32 && y < 48 })
	if err := json.NewEncoder(w).Encode(map[string]any{"model": in.Model, "size": []int{64, 64}, "counts": found.EncodeCOCO()}); err != nil {
		s.t.Error(err)
	}
}

// segmenterLab is a lab whose plan names a segmenter and whose item shows a phantom; the picture's
// measurement is recorded.
func segmenterLab(t *testing.T, model, class string, service http.Handler) (*Activities, contract.RolloutInput) {
	t.Helper()
	l, in := rolloutLab(t)
	store := l.store
	var p experiments.Plan
	read := func(ref artifacts.Ref, into any) {
		data, err := store.Get(t.Context(), ref)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, into))
	}
	read(in.Plan, &p)
	p.Spec.Agent.Segmenter = model
	of := func(name string) experiments.Model {
		d := artifacts.Sum([]byte(name))
		return experiments.Model{Name: name, Weights: artifacts.Ref{Digest: d}, Settings: d}
	}
	seg, view := of("segmentation"), of("view")
	p.Model, p.View = &seg, &view
	in.Plan = l.putJSON(p, experiments.PlanMediaType)
	drawn, err := phantom.New(3, 1, phantom.Options{}).Picture(256, 256)
	require.NoError(t, err)
	film, err := cxr.EncodePNG(drawn.Image)
	require.NoError(t, err)
	var q contract.Questions
	read(in.Questions, &q)
	q.DataUse = class
	q.Items[0].Pictures[0].Image = l.put(film, "image/png")
	in.Questions = l.putJSON(q, contract.QuestionsMediaType)

	s := httptest.NewServer(service)
	t.Cleanup(s.Close)
	card := endpoint.Segmenter{Name: "spots", URL: s.URL, Model: "spots-1", Timeout: 1e10}
	a := l.worker("one", nil, func(o *Options) {
		o.Segmenter = func(name string, class datause.Class) (tools.Finder, error) {
			require.Equal(t, model, name)
			return card.Open(class, func(string) string { return "" }, store.Get)
		}
	})
	masks := l.put(drawn.Masks.Encode(), "application/octet-stream")
	require.NoError(t, inActivity(a, func(b *askBeat) error {
		r, err := a.rollout(b.work, in)
		if err != nil {
			return err
		}
		key, err := r.plan.MeasureKey(r.Pictures[0].Digest, r.gate)
		if err != nil {
			return err
		}
		_, _, err = (&liveMeans{a: a, b: b, r: r}).step(key, func(context.Context) (product, error) {
			text, err := artifacts.Canonical(contract.MeasurementDoc{Format: contract.MeasurementFormat, Image: r.Pictures[0].Digest, Masks: masks,
				Gated: xragent.Bundle{Reason: "view_ap"}, Ungated: xragent.Bundle{Reason: "view_ap"}})
			return product{data: text, mediaType: contract.MeasurementMediaType, materials: []provenance.Descriptor{}}, err
		})
		return err
	}))
	return a, in
}

func useTool(a *Activities, in contract.RolloutInput, c xragent.ToolCall) (o xragent.Observation, tools []contract.RolloutTool, err error) {
	err = inActivity(a, func(b *askBeat) error {
		r, err := a.rollout(b.work, in)
		if err != nil {
			return err
		}
		o, _, err = r.answer(&liveMeans{a: a, b: b, r: r}, c)
		tools = r.tools
		return err
	})
	return o, tools, err
}

// TestWordsGoToTheSegmenter: what no structure is called is asked of the service that the plan
// names, once; crops of such words share its record; another model's answers are other records.
func TestWordsGoToTheSegmenter(t *testing.T) {
	s := &spotService{t: t}
	a, in := segmenterLab(t, "spots-1", "synthetic", s)
	parse := func(target string) xragent.ToolCall {
		return xragent.ToolCall{Number: 2, Name: xragent.ToolParse, Target: target}
	}
	heart, _, err := useTool(a, in, parse("heart"))
	require.NoError(t, err)
	require.Equal(t, xragent.StatusOK, heart.Status)
	require.Zero(t, s.asked.Load(), "a structure needs no service")

	for range 2 {
		o, made, err := useTool(a, in, parse(" Spot "))
		require.NoError(t, err)
		require.Equal(t, [4]int{250, 500, 375, 750}, *o.Box)
		require.Equal(t, xragent.StatusOK, o.Status)
		require.Len(t, o.Images, 1)
		require.Len(t, made, 1)
	}
	require.EqualValues(t, 1, s.asked.Load(), "what is recorded is not asked again")
	o, made, err := useTool(a, in, xragent.ToolCall{Number: 1, Name: xragent.ToolCrop, Region: "spot"})
	require.NoError(t, err)
	require.Equal(t, xragent.ToolCrop, o.Name)
	require.Equal(t, [4]int{250, 500, 375, 750}, *o.Box)
	require.Len(t, made, 2, "the outline and the crop")
	require.EqualValues(t, 1, s.asked.Load())

	o, _, err = useTool(a, in, xragent.ToolCall{Number: 1, Name: xragent.ToolCrop, Region: "shade"})
	require.NoError(t, err)
	require.Equal(t, xragent.Observation{Call: 1, Name: xragent.ToolCrop, Status: xragent.StatusNotFound, Text: o.Text}, o)

	_, _, err = useTool(a, in, parse("fog"))
	require.ErrorContains(t, err, "spots-1")
	require.ErrorContains(t, err, "503")

	without, inWithout := segmenterLab(t, "", "synthetic", s)
	o, plain, err := useTool(without, inWithout, parse("spot"))
	require.NoError(t, err)
	require.Equal(t, xragent.StatusUnsupported, o.Status)
	o, named, err := useTool(a, in, parse("spot"))
	require.NoError(t, err)
	require.Equal(t, xragent.StatusOK, o.Status)
	require.NotEqual(t, plain[0].Key, named[0].Key)
	require.EqualValues(t, 3, s.asked.Load(), "spot, shade and fog")
}

// TestWordsStayWhereTheyMay: pictures of a class that the service's operator vouches for nothing
// about are not sent.
func TestWordsStayWhereTheyMay(t *testing.T) {
	s := &spotService{t: t}
	a, in := segmenterLab(t, "spots-1", datause.Credentialed.String(), s)
	_, _, err := useTool(a, in, xragent.ToolCall{Number: 1, Name: xragent.ToolParse, Target: "spot"})
	require.Error(t, err)
	require.Contains(t, strings.ToLower(err.Error()), "credentialed")
	require.Zero(t, s.asked.Load())
}
