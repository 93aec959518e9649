package activities

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"

	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
)

// noise is a PNG that does not compress: about as many bytes as pixels.
func noise(seed uint64, side int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	img := image.NewGray(image.Rect(0, 0, side, side))
	for i := range img.Pix {
		img.Pix[i] = byte(r.Uint32())
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkAsk makes calls with seven earlier turns and eight pictures of 90 kB, 64 in flight,
// over a folder store and a server on loopback that answers at once. ms/call is wall time times
// processors; cpu-ms/call is what this process used, the server's share included.
func BenchmarkAsk(b *testing.B) {
	for _, kind := range []string{"live", "recorded"} {
		b.Run(kind, func(b *testing.B) {
			l := newAskLabIn(b, dirRepository(b, b.TempDir()))
			for i := range l.cases {
				for path := range l.cases[i].Pictures {
					l.cases[i].Pictures[path] = l.put(noise(uint64(i), 300), "image/png")
				}
			}
			s := serve(b, always(reply{text: "Looking at the borders of the heart, the answer is (a) Yes."}))
			a := l.worker("one", l.endpoint(s.URL, place{price: testPrice{}}))
			in := l.input(0)
			in.Evaluation = 1
			for turn := range 7 {
				first := l.input(turn % 3)
				said := l.mustAsk(a, first)
				in.History = append(in.History, contract.Said{Key: first.Call.Key, Case: turn % 3, Reply: said.Answer})
			}
			in.Call.Key.Stage = cxreasonbench.StageInit
			if kind == "recorded" {
				askAll(b, a, in, b.N)
			}
			b.ResetTimer()
			cpu, begin := cpuTime(), time.Now()
			askAll(b, a, in, b.N)
			wall := time.Since(begin)
			b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/1e3/float64(b.N), "cpu-ms/call")
			b.ReportMetric(float64(wall.Microseconds())*float64(runtime.GOMAXPROCS(0))/1e3/float64(b.N), "ms/call")
		})
	}
}

// askAll asks n draws, 64 at a time, inside one activity.
func askAll(b *testing.B, a *Activities, in contract.AskInput, n int) {
	b.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestActivityEnvironment()
	env.SetTestTimeout(5 * time.Minute)
	fn := func(ctx context.Context) error {
		var next atomic.Int64
		var wg sync.WaitGroup
		failed := make(chan error, 64)
		for range 64 {
			wg.Go(func() {
				for {
					draw := int(next.Add(1)) - 1
					if draw >= n {
						return
					}
					mine := in
					mine.Call.Draw = draw
					if _, err := a.Ask(ctx, mine); err != nil {
						failed <- fmt.Errorf("draw %d: %w", draw, err)
						return
					}
				}
			})
		}
		wg.Wait()
		select {
		case err := <-failed:
			return err
		default:
			return nil
		}
	}
	env.RegisterActivity(fn)
	if _, err := env.ExecuteActivity(fn); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkQuestion is the assembly and the key of such a call.
func BenchmarkQuestion(b *testing.B) {
	l := newAskLab(b)
	s := serve(b, always(reply{text: "(a)"}))
	a := l.worker("one", l.endpoint(s.URL, place{}))
	in := l.input(0)
	said := l.mustAsk(a, in)
	for turn := range 7 {
		in.History = append(in.History, contract.Said{Key: in.Call.Key, Case: turn % 3, Reply: said.Answer})
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.asks.question(a, context.Background(), in); err != nil {
			b.Fatal(err)
		}
	}
}
