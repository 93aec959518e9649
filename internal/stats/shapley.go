package stats

import (
	"fmt"
	"math/bits"
)

// MostPlayers is the largest game that [NewGame] takes: a game of n players has 2^n coalitions.
const MostPlayers = 20

// A Game is a cooperative game: what every coalition of players is worth, in whole units, so
// that everything computed from it is exact.
type Game struct {
	players int
	worth   []int64
	// dividends are Harsanyi's, by coalition.
	dividends []int64
}

// NewGame makes a game of the worth of every coalition: worth[s] is that of the players whose
// bits are set in s, worth[0] that of nobody.
//
// Errors: a number of coalitions that is no power of two, or of more than MostPlayers players.
func NewGame(worth []int64) (Game, error) {
	n := bits.Len(uint(len(worth))) - 1
	if len(worth) == 0 || len(worth) != 1<<n || n > MostPlayers {
		return Game{}, fmt.Errorf("stats: %d coalitions; a game of n players has 2^n, for n up to %d", len(worth), MostPlayers)
	}
	g := Game{players: n, worth: append([]int64(nil), worth...), dividends: append([]int64(nil), worth...)}
	for i := range n {
		for s := range g.dividends {
			if s>>i&1 == 1 {
				g.dividends[s] -= g.dividends[s^1<<i]
			}
		}
	}
	return g, nil
}

// Gap is what all players together are worth beyond nobody.
func (g Game) Gap() int64 { return g.worth[len(g.worth)-1] - g.worth[0] }

// Dividend returns Harsanyi's dividend of a coalition: what its players are worth together
// beyond everything that fewer of them are. The dividends of all coalitions but the empty one
// sum to Gap.
//
// Source: textbook (Harsanyi 1963), the Moebius transform of the worth.
func (g Game) Dividend(coalition int) int64 { return g.dividends[coalition] }

// Shapley returns each player's Shapley value as shares[i]/unit: the mean of what the player
// adds, over all orders in which players join. The shares sum to unit times Gap exactly;
// players who add the same to everybody get the same, one who adds nothing gets nothing.
//
// Source: textbook (Shapley 1953); each coalition's dividend is divided evenly among its
// players.
func (g Game) Shapley() (shares []int64, unit int64) {
	unit = 1
	for k := int64(2); k <= int64(g.players); k++ {
		unit = unit / gcd(unit, k) * k
	}
	shares = make([]int64, g.players)
	for s := 1; s < len(g.dividends); s++ {
		part := g.dividends[s] * (unit / int64(bits.OnesCount(uint(s))))
		for i := range shares {
			if s>>i&1 == 1 {
				shares[i] += part
			}
		}
	}
	return shares, unit
}

// Interaction returns the coalition of two or more players whose dividend is largest in size,
// the smaller coalition among equals; 0 where players only add up.
func (g Game) Interaction() (coalition int) {
	best := int64(0)
	for s := range g.dividends {
		d := max(g.dividends[s], -g.dividends[s])
		players := bits.OnesCount(uint(s))
		if players < 2 || d == 0 {
			continue
		}
		if d > best || d == best && players < bits.OnesCount(uint(coalition)) {
			best, coalition = d, s
		}
	}
	return coalition
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
