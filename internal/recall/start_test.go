package recall

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAsksOfStart(t *testing.T) {
	t.Parallel()
	for _, q := range []string{
		"How low was my iron when they first measured it?",
		"What did I weigh when I first joined the gym?",
		"Which bike was I riding when we first met?",
		"How much rent did I pay when I first moved in?",
		"Who looked after the shop in the beginning?",
		"What was the team called at the start?",
		"Back in March, which pills was I on?",
		"Which knee hurt back in January?",
		"What did the builder initially quote?",
		"Who first took me climbing?",
		"Where did Ola first work after school?",
		"What colour was the kitchen to begin with?",
		"How many chickens did we have to start with?",
		"Which teacher did Leo have back then?",
		"What was my salary when the firm first hired me?",
		"How far could I run when I first started?",
		"Which flat did we look at first, back when we were house hunting?",
		"What did the vet first prescribe?",
		"What time was the class at the very beginning?",
		"Who ran the choir back in 2019?",
	} {
		t.Run(q, func(t *testing.T) { assert.True(t, asksOfStart(q)) })
	}
	for _, q := range []string{
		"When do I first pour at the bar?",
		"When will the first heifers drop?",
		"What is my first name on the lease?",
		"When are we back in May?",
		"When do we fly back in January?",
		"What date is the first session?",
		"What time does the show begin?",
		"Which race am I running in December?",
		"Where do I keep the first aid kit?",
		"When was the first hearing held?",
		"Who is the First Minister?",
		"What must I do first?",
		"When did she come back in March?",
		"Is the first floor flat still ours?",
		"Who was my first boss?",
		"Did the first draft go out?",
		"What should I eat first in the morning?",
		"Where did I put the first receipt?",
		"Did the agent call back in the summer?",
		"What did the doctor say?",
		"Which doctor do I see?",
	} {
		t.Run(q, func(t *testing.T) { assert.False(t, asksOfStart(q)) })
	}
}
