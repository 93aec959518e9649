package responder

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"cxrepro/internal/chexstruct"
	"cxrepro/internal/cxreasonbench"
)

// BenchmarkRequests asks the second stage of a case: a history of three turns, and five
// pictures of 100 kB together with the question, over a real connection.
func BenchmarkRequests(b *testing.B) {
	m := makeBenchmark(b, cxreasonbench.Corrected, 100)
	c := open(b, m, serve(b, m, nil, Model{Name: "m", Behaviour: Exact, Paper: "Gemini-2.5-Pro"}))
	k := m.bench.byTask[chexstruct.Cardiomegaly][0]
	key := func(s cxreasonbench.Stage) *cxreasonbench.Question {
		return k.question(cxreasonbench.Key{Path: cxreasonbench.Path1, Stage: s})
	}
	init, criteria, structures := key(cxreasonbench.StageInit), key(cxreasonbench.StageCriteria), key(cxreasonbench.StageStructures)
	r := rand.New(rand.NewPCG(1, 1))
	large := func() []byte {
		data := make([]byte, 100_000)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		return data
	}
	a := asking{model: "m", messages: []any{system(cxreasonbench.Prompts().System()), user(init.Text, c.shown(init)...), reply("FINAL ANSWER: (a) Yes"),
		user(criteria.Text), reply("FINAL ANSWER: (a)"), user(structures.Text, large(), large(), large(), large())}}
	body := a.body(b)
	if r, err := c.post(body); err != nil || r.status != 200 {
		b.Fatalf("%v %s", err, r.body)
	}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if r, err := c.post(body); err != nil || r.status != 200 {
				b.Error(fmt.Errorf("%v %s", err, r.body))
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}

// BenchmarkUnderstand is the work on such a request without its transport.
func BenchmarkUnderstand(b *testing.B) {
	m := makeBenchmark(b, cxreasonbench.Corrected, 1)
	c := &client{t: b, m: m}
	a := c.first(chexstruct.Cardiomegaly, "m")
	k := m.bench.byTask[chexstruct.Cardiomegaly][0]
	q := k.question(cxreasonbench.Key{Path: cxreasonbench.Path1, Stage: cxreasonbench.StageStructures})
	big := make([]byte, 100_000)
	a.messages = append(a.messages, reply("x"), user(q.Text, big, big, big, big))
	body := a.body(b)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		request, pictures, err := decode(body)
		if err != nil {
			b.Fatal(err)
		}
		request.fingerprint(pictures)
		if _, err := m.bench.locate(request.turns(pictures)); err != nil {
			b.Fatal(err)
		}
	}
}
