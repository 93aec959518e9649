package why

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"cxrepro/internal/stats"
)

// MostFactors is how many factors are set in every combination; what is more shares the last
// place.
const MostFactors = 6

// Attribution divides the gap between two figures.
type Attribution struct {
	Ours   Value `json:"ours"`
	Theirs Value `json:"theirs"`
	// Scored is ours with every factor of scoring set as on the other side.
	Scored Value `json:"scored"`
	// Gap is theirs minus ours, in hundredths; it is known where both figures are.
	GapKnown bool  `json:"gap_known"`
	Gap      int64 `json:"gap_hundredths"`
	// Shares are those of the factors of scoring. They and Rest sum to Gap exactly.
	Shares []Share `json:"shares"`
	Rest   int64   `json:"rest_hundredths"`
	// Interaction is the largest of two or more factors; nil where they only add up.
	Interaction *Interaction `json:"interaction"`
	// Combinations are those whose figure was computed. NotShared says why there are no
	// shares, empty where there are.
	Combinations int    `json:"combinations"`
	NotShared    string `json:"not_shared,omitempty"`
	// OpenIn counts the combinations in which dialogues wait for calls that nobody made.
	OpenIn int `json:"open_in"`
	// Needing are the factors that need calls, or could not be had.
	Needing []Needing `json:"needing"`
	// Left is what of the rest no factor with an effect of its own accounts for, in
	// hundredths: the effects are of one factor at a time.
	Left int64 `json:"left_hundredths"`
}

// Share is what one factor contributes, or several that share a place.
type Share struct {
	Factors []Factor `json:"factors"`
	// Alone is what the figure moves by where this factor alone is set as on the other side.
	AloneKnown bool  `json:"alone_known"`
	Alone      int64 `json:"alone_hundredths"`
	// Share is Numerator/Denominator hundredths exactly; TenThousandths the same with four
	// decimals, rounded so that the shares still sum to the gap.
	Numerator      int64 `json:"numerator"`
	Denominator    int64 `json:"denominator"`
	TenThousandths int64 `json:"ten_thousandths"`
}

// Name names the factors of a share.
func (s Share) Name() string { return names(s.Factors) }

// Interaction is what factors do only together.
type Interaction struct {
	Factors []string `json:"factors"`
	// Hundredths is Harsanyi's dividend: beyond everything that fewer of them do.
	Hundredths int64 `json:"hundredths"`
}

// Needing is a factor that scoring cannot change.
type Needing struct {
	Factor Factor `json:"factor"`
	// Recorded: somebody made every call that it needs, and Effect, in hundredths, is what
	// the figure moves by from Scored where this factor is set as on the other side too.
	Recorded bool  `json:"recorded"`
	Effect   int64 `json:"effect_hundredths"`
	// Open are the dialogues that wait for calls, as far as is known; each of them waits for
	// one call or more.
	Open Open   `json:"open"`
	Why  string `json:"why,omitempty"`
}

// Attribute divides the gap between the figure of ours and theirs among the factors. Those of
// scoring are set in every combination; a factor that needs calls of the judge is among them
// where every verdict is recorded. Each of the others is set alone, beside all of scoring.
//
// Errors: those of eval.
func Attribute(ctx context.Context, ours Setting, theirs Value, factors []Factor, eval Evaluate) (*Attribution, error) {
	a := &Attribution{Theirs: theirs, Shares: []Share{}, Needing: []Needing{}}
	var err error
	if a.Ours, err = eval(ctx, ours); err != nil {
		return nil, err
	}
	a.GapKnown = a.Ours.Known && theirs.Known
	if a.GapKnown {
		a.Gap = theirs.Hundredths - a.Ours.Hundredths
	}
	at := func(list ...Factor) (Value, error) {
		s, err := ours.Apply(list...)
		if err != nil {
			return Value{}, err
		}
		return eval(ctx, s)
	}
	players, needing, err := a.sort(factors, at)
	if err != nil {
		return nil, err
	}
	if err := a.share(players, at); err != nil {
		return nil, err
	}
	return a, a.beyond(players, needing, at)
}

type place struct {
	Share
	alone Value
}

// sort divides the factors into those of scoring, with what each does alone, and the others.
func (a *Attribution) sort(factors []Factor, at func(...Factor) (Value, error)) (players []place, needing []Factor, err error) {
	for _, f := range factors {
		if f.Unavailable != "" || f.Needs > NeedsJudge {
			needing = append(needing, f)
			continue
		}
		alone, err := at(f)
		if err != nil {
			return nil, nil, err
		}
		if alone.Open.Any() && !a.Ours.Open.Any() && f.Needs == NeedsJudge {
			needing = append(needing, f)
			continue
		}
		players = append(players, place{Share: a.moved(alone, f), alone: alone})
	}
	if len(players) <= MostFactors {
		return players, needing, nil
	}
	// The factors that do most alone keep places of their own.
	slices.SortStableFunc(players, func(x, y place) int { return int(size(y.Alone) - size(x.Alone)) })
	var rest []Factor
	for _, p := range players[MostFactors-1:] {
		rest = append(rest, p.Factors...)
	}
	alone, err := at(rest...)
	return append(players[:MostFactors-1], place{Share: a.moved(alone, rest...), alone: alone}), needing, err
}

// moved is a share before it is known, with what its factors do alone.
func (a *Attribution) moved(alone Value, factors ...Factor) Share {
	s := Share{Factors: factors, AloneKnown: alone.Known && a.Ours.Known}
	if s.AloneKnown {
		s.Alone = alone.Hundredths - a.Ours.Hundredths
	}
	return s
}

func size(v int64) int64 { return max(v, -v) }

// share computes the figure of every combination and divides what they move.
func (a *Attribution) share(players []place, at func(...Factor) (Value, error)) error {
	worth := make([]int64, 1<<len(players))
	var without []string
	for s := range worth {
		var list []Factor
		for i, p := range players {
			if s>>i&1 == 1 {
				list = append(list, p.Factors...)
			}
		}
		var v Value
		var err error
		switch {
		case s == 0:
			v = a.Ours
		case s&(s-1) == 0:
			v = players[bits.TrailingZeros(uint(s))].alone
		default:
			v, err = at(list...)
		}
		if err != nil {
			return err
		}
		a.Combinations++
		if v.Open.Any() {
			a.OpenIn++
		}
		if !v.Known {
			without = append(without, fmt.Sprintf("%s (%s)", names(list), v.Why))
		}
		worth[s] = v.Hundredths
		a.Scored = v // the last one has them all
	}
	for _, p := range players {
		a.Shares = append(a.Shares, p.Share)
	}
	switch {
	case !a.GapKnown && !a.Ours.Known:
		a.NotShared = "ours has no value: " + a.Ours.Why
	case !a.GapKnown:
		a.NotShared = "the other side has no value: " + a.Theirs.Why
	case len(without) > 0:
		a.NotShared = "there is no value with " + strings.Join(without[:min(len(without), 3)], "; with ")
	}
	if a.NotShared != "" {
		return nil
	}
	a.Rest = a.Theirs.Hundredths - a.Scored.Hundredths
	return a.divide(players, worth)
}

// divide computes the shares.
func (a *Attribution) divide(players []place, worth []int64) error {
	game, err := stats.NewGame(worth)
	if err != nil {
		return err
	}
	shares, unit := game.Shapley()
	rounded := apportion(shares, unit, 100)
	for i := range shares {
		a.Shares[i].Numerator, a.Shares[i].Denominator, a.Shares[i].TenThousandths = shares[i], unit, rounded[i]
	}
	if s := game.Interaction(); s != 0 {
		a.Interaction = &Interaction{Hundredths: game.Dividend(s)}
		for i, p := range players {
			if s>>i&1 == 1 {
				a.Interaction.Factors = append(a.Interaction.Factors, p.Name())
			}
		}
	}
	return nil
}

// beyond sets each factor that needs calls beside all of scoring.
func (a *Attribution) beyond(players []place, needing []Factor, at func(...Factor) (Value, error)) error {
	var scored []Factor
	for _, p := range players {
		scored = append(scored, p.Factors...)
	}
	a.Left = a.Rest
	for _, f := range needing {
		n := Needing{Factor: f, Why: f.Unavailable}
		if f.Unavailable == "" {
			v, err := at(append(slices.Clone(scored), f)...)
			if err != nil {
				return err
			}
			n.Open = v.Open
			switch {
			case v.Open.Any():
			case !v.Known || !a.Scored.Known:
				n.Why = "there is no value with it: " + v.Why
			default:
				n.Recorded, n.Effect = true, v.Hundredths-a.Scored.Hundredths
				a.Left -= n.Effect
			}
		}
		a.Needing = append(a.Needing, n)
	}
	return nil
}

// apportion rounds shares of so many units to whole parts of 1/fine of a whole, so that the
// rounded ones sum to fine times what the shares sum to: each is rounded down, and the largest
// remainders are rounded up, the first among equals.
//
// The shares must sum to a multiple of unit.
func apportion(shares []int64, unit, fine int64) []int64 {
	out := make([]int64, len(shares))
	order := make([]int, len(shares))
	rest := make([]int64, len(shares))
	missing := int64(0)
	for i, s := range shares {
		out[i] = s * fine / unit
		if rest[i] = s * fine % unit; rest[i] < 0 {
			out[i]--
			rest[i] += unit
		}
		missing += rest[i]
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return int(rest[y] - rest[x]) })
	for _, i := range order[:missing/unit] {
		out[i]++
	}
	return out
}

func names(list []Factor) string {
	var out []string
	for _, f := range list {
		out = append(out, f.Name)
	}
	if len(out) == 0 {
		return "nothing changed"
	}
	return strings.Join(out, " + ")
}
