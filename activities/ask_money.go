package activities

import (
	"cxrepro/internal/contract"
	"cxrepro/internal/derive"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/ledger"
)

// Guesses of what a request takes before the endpoint counts it.
const (
	bytesPerToken    = 3
	tokensPerPicture = 1600
	// replyTokens is what a reply may take where the card sets no limit.
	replyTokens = 8192
	// usualReply is what a reply takes as a rule.
	usualReply = 256
)

func promptTokens(q *derive.Call) int {
	n := 0
	for _, m := range q.Request.Transcript.Messages {
		for _, p := range m.Parts {
			if p.Image != nil {
				n += tokensPerPicture
			} else {
				n += len(p.Text)/bytesPerToken + 4
			}
		}
	}
	return n
}

// tokens is what the limiter sets aside for the request until the endpoint has counted.
func (c *call) tokens() int {
	most := c.Request.Decoding.MaxTokens
	if most <= 0 || most > usualReply {
		most = usualReply
	}
	return promptTokens(c.Call) + most
}

// most is the usage that a request can hardly exceed.
func (c *call) most() dialogue.Usage {
	d, reply := c.Request.Decoding, replyTokens
	if d.MaxTokens > 0 {
		reply = d.MaxTokens
	}
	if d.ThinkingBudget != nil && *d.ThinkingBudget > 0 {
		reply += *d.ThinkingBudget
	}
	return dialogue.Usage{Calls: 1, Prompt: int64(promptTokens(c.Call)), Completion: int64(reply)}
}

// reserved is money set aside for one request; without a budget there is none to set aside.
type reserved struct{ money *ledger.Reservation }

func (r *reserved) Settle(cost int64) {
	if r.money != nil {
		r.money.Settle(cost)
	}
}

func (r *reserved) Keep() {
	if r.money != nil {
		r.money.Keep()
	}
}

// reserve sets aside what the request could cost, before it is sent.
func (c *call) reserve() (*reserved, error) {
	if c.Budget <= 0 {
		return &reserved{}, nil
	}
	price := c.endpoint.Price
	if price == nil {
		return nil, fail(contract.ErrTypeEndpoint, "endpoint %s states no price, so a budget cannot be kept; state one in its card, 0 where it costs nothing", c.endpoint.Name)
	}
	amount := price.Cost(c.most())
	r, err := c.of.wallet(c.Reproduction, price.Unit()).Reserve(c.beat.wait, c.Budget, amount)
	if err != nil {
		if ended := c.beat.ended(); ended != nil {
			return nil, c.outOfTime(ended)
		}
		return nil, err
	}
	return &reserved{r}, nil
}
