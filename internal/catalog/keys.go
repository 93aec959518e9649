package catalog

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"cxrepro/artifacts"
)

// Matching returns the keys whose own digest, result or statement begins with the given 8 or
// more hexadecimal digits, in the order of their numbers, at most limit. Keys whose entry was
// removed are left out.
func (c *Catalog) Matching(ctx context.Context, hex string, limit int) ([]Step, error) {
	low, high, err := span(hex)
	if err != nil {
		return nil, err
	}
	found, err := c.steps(ctx, stepQuery+`WHERE s.removed = 0 AND s.key IN (SELECT key FROM steps WHERE key BETWEEN ?1 AND ?2
		UNION SELECT key FROM steps WHERE result BETWEEN ?1 AND ?2 UNION SELECT key FROM steps WHERE statement BETWEEN ?1 AND ?2)
		ORDER BY s.key LIMIT ?3`, low, high, limit)
	out := found[:0]
	for _, s := range found {
		if strings.HasPrefix(s.Key.Digest.Hex(), hex) || strings.HasPrefix(s.Result.Digest.Hex(), hex) || strings.HasPrefix(s.Statement.Hex(), hex) {
			out = append(out, s)
		}
	}
	return out, err
}

// Own returns the keys of a step that a reproduction computed itself, the earliest first, at
// most limit, and how many there are.
func (c *Catalog) Own(ctx context.Context, step, reproduction string, limit int) (steps []Step, total int, err error) {
	const which = `WHERE s.reproduction = ? AND s.step = ? AND s.removed = 0`
	args := []any{nameNumber(reproduction), nameNumber(step)}
	if err := c.db.QueryRowContext(ctx, `SELECT count(*) FROM steps s `+which, args...).Scan(&total); err != nil {
		return nil, 0, err
	}
	steps, err = c.steps(ctx, stepQuery+which+` ORDER BY s.finished, s.key LIMIT ?`, append(args, limit)...)
	return steps, total, err
}

// Earlier returns keys that may explain why s was computed: keys of the same step that other
// reproductions finished before s was begun, and how many of those there are. When there are
// more than limit, it returns those that share most materials with s, and the latest.
//
// Keys of the same reproduction are among them only when they share every material, as the key
// of another version of the step does.
func (c *Catalog) Earlier(ctx context.Context, s Step, limit int) (found []Step, total int, err error) {
	const other = `WHERE s.step = ? AND s.finished < ? AND s.reproduction <> ? AND s.removed = 0`
	args := []any{nameNumber(s.Key.Step), nanos(s.Started), nameNumber(s.Reproduction)}
	if err := c.db.QueryRowContext(ctx, `SELECT count(*) FROM steps s `+other, args...).Scan(&total); err != nil {
		return nil, 0, err
	}
	latest := limit
	if total > limit {
		latest = limit / 2
	}
	alike, err := c.alike(ctx, s, limit-limit/2)
	if err != nil {
		return nil, 0, err
	}
	found, err = c.steps(ctx, stepQuery+other+` ORDER BY s.finished DESC, s.key LIMIT ?`, append(args, latest)...)
	seen := map[artifacts.Digest]bool{}
	for _, f := range found {
		seen[f.Key.Digest] = true
	}
	for _, a := range alike {
		if !seen[a.Key.Digest] {
			found = append(found, a)
		}
	}
	return found, total, err
}

// mostUsers bounds how many users of one material are looked at: what very many keys share says
// little about which of them is near.
const mostUsers = 20_000

// alike returns the earlier keys of the same step that share most materials with s, the latest
// first among equals; of the same reproduction only those that share all.
func (c *Catalog) alike(ctx context.Context, s Step, limit int) ([]Step, error) {
	// Parameters and prompts are shared by so many keys that they tell none apart.
	mine, err := numbers(ctx, c.db, `SELECT DISTINCT dst FROM links WHERE via = ? AND name NOT IN (?, ?)`, []int64{number(s.Key.Digest), nameNumber(LinkParameter), nameNumber(LinkPrompt)})
	if err != nil {
		return nil, err
	}
	return c.sharing(ctx, s, mine, limit)
}

// sharing is alike for the materials mine.
func (c *Catalog) sharing(ctx context.Context, s Step, mine []int64, limit int) ([]Step, error) {
	key := number(s.Key.Digest)
	shared := map[int64]int{}
	for _, dst := range mine {
		users, err := numbers(ctx, c.db, `SELECT DISTINCT via FROM links WHERE dst = ? AND via NOT IN (0, ?) LIMIT ?`, []int64{dst, key, mostUsers})
		if err != nil {
			return nil, err
		}
		for _, u := range users {
			shared[u]++
		}
	}
	ids := make([]int64, 0, len(shared))
	for id := range shared {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b int64) int { return cmp.Or(shared[b]-shared[a], cmp.Compare(a, b)) })
	var found []Step
	for chunk := range slices.Chunk(ids, atOnce) {
		part, err := c.steps(ctx, stepQuery+`WHERE s.key IN (`+marks(len(chunk))+`) AND s.step = ? AND s.finished < ? AND s.removed = 0`,
			append(anys(chunk), nameNumber(s.Key.Step), nanos(s.Started))...)
		if err != nil {
			return nil, err
		}
		for _, p := range part {
			if p.Reproduction != s.Reproduction || shared[number(p.Key.Digest)] == len(mine) {
				found = append(found, p)
			}
		}
		if len(found) >= limit {
			break
		}
	}
	slices.SortFunc(found, func(a, b Step) int {
		return cmp.Or(shared[number(b.Key.Digest)]-shared[number(a.Key.Digest)], b.Finished.Compare(a.Finished))
	})
	return found[:min(len(found), limit)], nil
}
