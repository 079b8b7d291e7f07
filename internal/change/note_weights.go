package change

// noteShift and noteWeights are the logistic function of [known]. It was learnt of 177 stores of short notes in 18 languages and of 196 earlier ones, of the pairs
// that the rules leave: each among the other notes of its store, alone, and among notes of other stores.
const noteShift = -3.818

var noteWeights = known{
	sReplaces:    0.2309,
	sTurned:      0.2442,
	sAnswers:     0.3374,
	sLike:        0.1147,
	sShared:      0.0748,
	sRarest:      0.1718,
	sNearer:      3.13,
	sSharesMore:  0.9714,
	sRarer:       0.6586,
	sNearest:     0.6548,
	sCue:         0.09828,
	sEarlierCue:  -0.6033,
	sCueLogit:    -0.002823,
	sUnsettled:   -0.2523,
	sOwners:      -1.778,
	sNumbered:    -1.371,
	sOtherEvent:  -1.124,
	sSameEvent:   -0.6713,
	sSameValues:  -0.1762,
	sFirst:       0.4526,
	sLong:        1.277,
	sEarlierLong: -0.5648,
	sSameHead:    0.9954,
	sOtherHead:   -1.474,
	sWhole:       -2.814,
}
