// Package tiny plays the whole training of the small policy in one process, without the
// platform: SFT on the scripted teacher, rounds of GRPO against the served checkpoint, greedy
// evaluation on held-out items. It exists to tune the trainer and to see what it learns; what
// is durable and can be killed is the platform's way. Measurements come from `cxrepro xragent
// measure`. A small policy: it proves the machinery and says nothing about the paper's numbers.
package tiny
