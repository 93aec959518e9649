package main

import (
	"strings"
	"testing"
	"time"

	"cxrepro/internal/responder"
)

// TestWhile: the time in which enough dialogues are open is cut out, also where it is in two
// parts, and requests count as far as they lie in it.
func TestWhile(t *testing.T) {
	begin := time.Unix(1000, 0)
	at := func(from, to int, id string) responder.Exchange {
		return responder.Exchange{Model: "m", Case: id, Came: begin.Add(time.Duration(from) * time.Second), Gone: begin.Add(time.Duration(to) * time.Second)}
	}
	exchanges := []responder.Exchange{
		at(0, 1, "a"), at(9, 10, "a"), // open from 0 to 10
		at(2, 4, "b"),                // 2 to 4
		at(6, 7, "c"), at(7, 8, "c"), // 6 to 8
		at(3, 7, ""), // a judge is in no dialogue
	}
	spans, most := crowded(dialogues(exchanges), 2)
	if most != 2 || len(spans) != 2 {
		t.Fatalf("%d at most, %v", most, spans)
	}
	d := while(spans, most, exchanges)
	// In 2-4: the second dialogue's request and a second of the judge's; in 6-8: both requests
	// of the third, and the judge's last second.
	if d.time != 4*time.Second || d.busy != 6*time.Second || d.replies != 4 {
		t.Errorf("%+v", d)
	}
	if s := d.against(2, time.Second); !strings.Contains(s, "0.500 of the ideal") {
		t.Error(s)
	}
	var f figure
	if f.sum(exchanges); f.wall != 10*time.Second || f.busy != 10*time.Second {
		t.Errorf("%+v", f)
	}
}
