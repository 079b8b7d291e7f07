package change

// noteShift and noteWeights are the logistic function of [known]. It was learnt of 71 stores of short notes in 14 languages and of 196 earlier ones, of the pairs
// that the rules leave: each among the other notes of its store, alone, and among notes of other stores.
const noteShift = -1.124

var noteWeights = known{
	sReplaces:    0.3635,
	sTurned:      0.2533,
	sAnswers:     0.3605,
	sLike:        1.302,
	sShared:      -1.243,
	sRarest:      0.04706,
	sNearer:      4.831,
	sSharesMore:  1.195,
	sRarer:       0.7401,
	sNearest:     0.7364,
	sCue:         -0.2996,
	sEarlierCue:  -0.7425,
	sCueLogit:    -0.009643,
	sUnsettled:   -0.6096,
	sOwners:      -3.456,
	sNumbered:    -2.798,
	sOtherEvent:  -1.84,
	sSameEvent:   -3.161,
	sSameValues:  -1.501,
	sFirst:       0.6879,
	sLong:        1.541,
	sEarlierLong: -1.265,
}
