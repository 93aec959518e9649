package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/proto"

	"cxrepro/internal/contract"
	"cxrepro/internal/devserver"
	"cxrepro/internal/resolve"
	"cxrepro/internal/temporalconn"
)

// printStore counts what lies in the store, by area and step.
func printStore(store string) error {
	type pile struct {
		objects int
		bytes   int64
	}
	piles := map[string]*pile{}
	var all pile
	err := filepath.WalkDir(store, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(store, path)
		if err != nil {
			return err
		}
		parts := strings.Split(filepath.ToSlash(rel), "/")
		name := parts[0]
		if len(parts) > 2 && (name == "index" || name == "claims") {
			name += " " + parts[1]
		}
		p := piles[name]
		if p == nil {
			p = &pile{}
			piles[name] = p
		}
		for _, p := range []*pile{p, &all} {
			p.objects++
			p.bytes += info.Size()
		}
		return nil
	})
	if err != nil {
		return err
	}
	calls := 0
	if p := piles["index call"]; p != nil {
		calls = p.objects
	}
	fmt.Printf("store: %d objects, %.1f MiB; %.2f objects a recorded call\n", all.objects, float64(all.bytes)/(1<<20), float64(all.objects)/float64(max(calls, 1)))
	names := make([]string, 0, len(piles))
	for n := range piles {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		fmt.Printf("  %-24s %8d objects %9.1f MiB\n", n, piles[n].objects, float64(piles[n].bytes)/(1<<20))
	}
	return nil
}

// printHistories reads every history of the namespace.
func printHistories(ctx context.Context, state string) (err error) {
	conn, err := temporalconn.Open(ctx, temporalconn.Options{
		Address: "embedded", Identity: "rehearsal",
		Attributes: []string{contract.AttrPaper, contract.AttrReproduction, contract.AttrStage, contract.AttrDataUse},
		Server: devserver.Options{StateDir: state, NoUI: true, Resolve: func(ctx context.Context) (string, error) {
			b, err := resolve.Temporal(ctx, resolve.Options{Progress: func(l string) { fmt.Fprintln(os.Stderr, l) }})
			return b.Path, err
		}},
	})
	if err != nil {
		return err
	}
	defer func() {
		if stop := conn.Close(context.WithoutCancel(ctx)); err == nil {
			err = stop
		}
	}()
	type kind struct{ runs, events, longest, largest int }
	kinds := map[string]*kind{}
	var page []byte
	for {
		res, err := conn.Client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{PageSize: 500, NextPageToken: page})
		if err != nil {
			return err
		}
		for _, e := range res.GetExecutions() {
			k := kinds[e.GetType().GetName()]
			if k == nil {
				k = &kind{}
				kinds[e.GetType().GetName()] = k
			}
			k.runs++
			n := 0
			it := conn.Client.GetWorkflowHistory(ctx, e.GetExecution().GetWorkflowId(), e.GetExecution().GetRunId(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
			for it.HasNext() {
				event, err := it.Next()
				if err != nil {
					return err
				}
				n++
				k.largest = max(k.largest, proto.Size(event))
			}
			k.events += n
			k.longest = max(k.longest, n)
		}
		if page = res.GetNextPageToken(); len(page) == 0 {
			break
		}
	}
	names := make([]string, 0, len(kinds))
	for n := range kinds {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		k := kinds[n]
		fmt.Printf("histories: %-14s %6d runs %9d events, longest %5d, largest event %6d bytes\n", n, k.runs, k.events, k.longest, k.largest)
	}
	return nil
}
