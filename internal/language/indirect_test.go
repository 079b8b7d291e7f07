package language

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestIndirectQuestionsAreNoConditions has sentences in which "if" stands for "whether".
func TestIndirectQuestionsAreNoConditions(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"I'm wondering if the evening course is worth the money.",
		"My sister told me about a pottery class in Leith, and I've been wondering if I should join.",
		"Just wondered if you'd heard of this brand.",
		"I'm not sure if the warranty covers the pump.",
		"Honestly unsure if that counts as cardio.",
		"Dad isn't certain if the shed needs planning permission.",
		"We're trying to figure out if the damp comes from the roof.",
		"I finally figured out if the old adapter fits.",
		"Tomorrow I find out if I got the flat.",
		"Could you work out if the loan is cheaper over ten years?",
		"I'm curious if anyone else had trouble with the app.",
		"We keep debating if a second cat is a good idea.",
		"I doubt if he even read the contract.",
		"Mum keeps asking if I eat enough.",
		"The nurse asked me if I smoke.",
		"Please tell me if this sounds too harsh.",
		"Let me know if the link is broken.",
		"No idea if the museum is open on Mondays.",
		"I haven't got a clue if he likes jazz.",
		"I can't remember if I locked the bike.",
		"He's checking if the train runs on Sunday.",
		"Can you check if my passport is still valid?",
		"I'll ring them and see if they have a slot.",
		"The vet wants to determine if it's an allergy.",
		"I was asking around if someone sells a tent.",
		"I'm questioning if the job is right for me.",
		"Still deciding if we should repaint the hall.",
		"She hasn't decided yet if she's coming along.",
		"I'd like to verify if the invoice was paid.",
		"It's unclear if the landlord will pay for it.",
		"I don't care if it's second-hand.",
		"It doesn't matter if the paint is matt.",
		"I'm wondering what it costs and if it's worth it.",
		"Do you know how long it takes or if there's a queue?",
		"I want to understand if my pension is enough.",
		"Not clear if the heating is included.",
		"I've been thinking about whether or if I should tell her.",
	} {
		t.Run(text, func(t *testing.T) { assert.Zero(t, Conditional(text)) })
	}
}

// TestConditionsBesideWordsOfAsking has conditions in sentences that also ask, know or doubt.
func TestConditionsBesideWordsOfAsking(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"I'm sure, if the weather holds, we'll set out in June.",
		"In autumn, if the bank agrees.",
		"We'd move to Skye if my boss let me work from there.",
		"If the test comes back clean I can stop the tablets.",
		"He'll take the job if they raise the pay.",
		"I'll buy the boat if the survey is fine.",
		"We start on Monday unless the tiles are late.",
		"They'll lend us the van provided that we fill it up.",
		"Only if the school has a place.",
		"Maybe in spring if I feel up to it.",
		"We marry in May if the church is free.",
		"The surgery is on the 4th if the fever is gone.",
		"And if the roof leaks again we sell.",
		"I want to learn to sail if there's time.",
		"The knee gets an operation if the exercises don't help.",
		"She'd come along if somebody drove her.",
		"I get the bonus if we hit the target.",
		"Berlin in October if the visa comes through.",
		"The dog stays with us if the allergy isn't too bad.",
		"It would be a good idea if the club bought nets.",
		"The road is clear if they plough it by six.",
		"The tickets and if need be the hotel are on me if you drive.",
		"The shop opens in June if the builders keep their word.",
	} {
		t.Run(text, func(t *testing.T) { assert.Greater(t, Conditional(text), .8) })
	}
}
