package rewardserver

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cxrepro/artifacts"
	"cxrepro/artifacts/dirstore"
	"cxrepro/artifacts/localhost"
)

// long makes a trajectory of about 3 kB out of a sample.
func long(s Sample, n int) Sample {
	turn1 := strings.Replace(*s.Trajectory.Turn1, "I look.", strings.Repeat("The costophrenic angles are sharp on both sides. ", 16)+fmt.Sprint(n), 1)
	turn2 := strings.Replace(*s.Trajectory.Turn2, "The heart is enlarged.", "The heart is enlarged. "+strings.Repeat("There is a hazy opacity in the left lower zone with a poorly defined margin. ", 24), 1)
	s.Trajectory.Turn1, s.Trajectory.Turn2 = &turn1, &turn2
	s.SampleID = fmt.Sprintf("s-%d", n)
	return s
}

// BenchmarkBatches sends batches of 64 new samples of about 3 kB, over HTTP, with durable
// records in a folder; one iteration is one batch.
func BenchmarkBatches(b *testing.B) {
	bucket, err := dirstore.Open(b.TempDir(), dirstore.Options{})
	require.NoError(b, err)
	store, err := artifacts.New(bucket, artifacts.Options{Host: localhost.New()})
	require.NoError(b, err)
	f := newFixture(b, func(o *Options) { o.Records.Store, o.Records.Now = store, time.Now })
	n := 0
	batch := func() []byte {
		r := f.request()
		for i := range 64 {
			s := f.sample(i/4%8, i%4, i%3 > 0, i%3)
			step := n / 32
			s.Step = &step
			r.Samples = append(r.Samples, long(s, n))
			if n++; n%32 == 0 {
				continue
			}
		}
		data, err := json.Marshal(r)
		require.NoError(b, err)
		return data
	}
	status, _, body := f.do(b, "POST", "/v1/rewards", string(batch()))
	require.Equal(b, 200, status, body)
	b.ResetTimer()
	spent := time.Duration(0)
	for range b.N {
		data := string(batch())
		began := time.Now()
		if status, _, body := f.do(b, "POST", "/v1/rewards", data); status != 200 {
			b.Fatal(body)
		}
		spent += time.Since(began)
	}
	b.ReportMetric(float64(64*b.N)/spent.Seconds(), "samples/s")
}
