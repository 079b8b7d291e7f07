package rules

type adder func(f flag, words string)

type numAdder func(f flag, words string, first, step int)

// addFunctionWords adds the closed classes: pronouns, determiners, prepositions, auxiliaries, negation, time words.
func addFunctionWords(add adder, num numAdder) {
	add(fStop|fEnglish, `the a an and or but nor of to in on at for with by from is are was were be been being am do does did has have had
		having i you he she it we they me him her us them my your his its our their this that these those what which who whom whose when where
		why how not no as if than then so too very can could will would shall should may might must about into over after before between out
		up down here there also just any some such`)
	add(fStop, `mine yours hers ours theirs myself yourself himself herself itself ourselves themselves each every either neither both all
		many much more most few fewer less least several other another same own only even still yet again once ever never always often
		sometimes usually already almost enough quite rather else however therefore thus hence moreover furthermore meanwhile otherwise instead
		although though because since until unless while whereas whether upon within without through throughout during despite against among
		amongst across along around behind below beneath beside besides beyond under underneath near off onto per toward towards via like
		anyone anybody anything someone somebody something everyone everybody everything nobody nothing none one two three four five
		six seven eight nine ten lot lots let lets got get it's that's there's here's what's who's let's don't doesn't didn't isn't aren't
		wasn't weren't can't cannot couldn't won't wouldn't shouldn't haven't hasn't hadn't mustn't ain't im ive id dont cant wont didnt gonna gotta wanna
		's 'm 're 've 'll 'd`)
	add(fDet, `the a an this that these those my your his her its our their some any each every another no all both several many few most other`)
	add(fPrep, `of to in on at for with by from about into over after before between through during despite against among across along around
		behind below beside beyond under near off onto toward towards via upon within without since until till like as than per`)
	add(fConj, `and or but nor so yet because although though while whereas if unless when where who which that whether`)
	add(fWh, `what which who whom whose when where why how`)
	add(fI|fStop, `i me myself im i'm ive`)
	add(fI|fPoss, `my mine`)
	add(fWe, `we us ourselves`)
	add(fWe|fPoss, `our ours`)
	add(fYou, `you yourself`)
	add(fYou|fPoss, `your yours`)
	add(fHe, `he him himself`)
	add(fHe|fPoss, `his`)
	add(fShe, `she her herself`)
	add(fShe|fPoss, `her hers`)
	add(fIt, `it itself`)
	add(fIt|fPoss, `its`)
	add(fThey, `they them themselves`)
	add(fThey|fPoss, `their theirs`)
	add(fBe, `am is are was were be been being 'm 're isn't aren't wasn't weren't ain't im`)
	add(fBe|fHave, `'s`) // "he's tall", "he's been"; the possessive is told apart by what follows
	add(fHave, `have has had having 've haven't hasn't hadn't ive`)
	add(fDo, `do does did don't doesn't didn't dont didnt`)
	add(fModal, `will would shall should can could may might must 'll 'd can't cannot cant couldn't won't wont wouldn't shouldn't mustn't gonna wanna gotta`)
	add(fFuture, `will 'll shall won't wont gonna wanna`)
	add(fHyp, `would could might if unless maybe perhaps suppose supposing wish whether imagine wouldn't couldn't should shouldn't hopefully possibly otherwise`)
	add(fNeg, `not never n't don't doesn't didn't isn't aren't wasn't weren't can't cannot cant couldn't won't wont wouldn't shouldn't haven't hasn't hadn't
		mustn't ain't dont didnt neither nor hardly barely without`)
	add(fRetract, `anymore nolonger`)
	add(fAdv, `rather also just really always often usually sometimes never not still already actually recently currently now generally typically
		mostly mainly probably definitely certainly absolutely totally truly especially particularly ever even only soon finally
		eventually later then once again previously formerly originally initially first officially jointly together quickly slowly
		occasionally rarely seldom frequently regularly hardly barely very so much simply basically honestly kinda literally personally
		obviously clearly apparently successfully subsequently gradually nearly almost temporarily permanently lately long ago largely primarily partly widely heavily`)
	add(fYes, `yes yeah yep yup sure correct right exactly absolutely definitely indeed affirmative true ok okay`)
	add(fNo, `no nope nah never incorrect wrong false`)
	num(fDayWord|fStop, `yesterday today/tonight tomorrow`, -1, 1)
	add(fTemporal, `last next past previous coming upcoming ago since until till during before after recently currently now formerly previously
		later earlier soon once always former`)
	add(fDateLead, `a an one couple few several some half in within last past previous next coming upcoming this earlier later`)
	add(fDatePart, `early mid late beginning start middle end first second third fourth last other`)
	num(fTimeUnit, `day/days/daily`, 1, 0)
	num(fTimeUnit, `week/weeks/fortnight`, 7, 0)
	num(fTimeUnit, `weekend/weekends`, 2, 0)
	num(fTimeUnit, `month/months`, 30, 0)
	num(fTimeUnit, `year/years/yr/yrs`, 365, 0)
	num(fTimeUnit, `decade/decades`, 3650, 0)
	num(fTimeUnit, `century/centuries`, 32000, 0)
	num(fTimeUnit, `hour/hours/minute/minutes/second/seconds/hr/hrs/mins/min/morning/mornings/afternoon/evening/evenings/night/nights`, 0, 0)
	num(fMonth, `january/jan february/feb march/mar april/apr may june/jun july/jul august/aug september/sep/sept october/oct november/nov december/dec`, 1, 1)
	num(fMonthX, `januar/janvier/enero/gennaio/janeiro/januari/stycznia februar/fevrier/février/febrero/febbraio/fevereiro/februari
		märz/maerz/mars/marzo/março/marco/maart avril/abril/aprile mai/mayo/maggio/maio/mei juni/juin/junio/giugno/junho juli/juillet/julio/luglio/julho
		août/aout/agosto/augustus septembre/septiembre/settembre/setembro oktober/octobre/octubre/ottobre/outubro novembre/noviembre/novembro
		dezember/décembre/decembre/diciembre/dicembre/dezembro`, 1, 1)
	num(fWeekday, `sunday/sundays monday/mondays/mon tuesday/tuesdays/tue/tues wednesday/wednesdays/wed thursday/thursdays/thu/thurs friday/fridays/fri saturday/saturdays`, 0, 1)
	num(fSeason, `winter/winters spring summer/summers autumn/fall`, 0, 3)
	num(fNum, `zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen`, 0, 1)
	num(fNum, `twenty thirty forty fifty sixty seventy eighty ninety hundred`, 20, 10)
	add(fClock, `am pm a.m p.m o'clock`)
	add(fOrdinal, `st nd rd th s`)
	add(fScale, `thousand million billion trillion k m bn mn mio mrd`)
	add(fCurrency, `dollar dollars usd euro euros eur pound pounds gbp yen jpy yuan rmb cny rupee rupees inr franc francs chf krona peso pesos cent cents bucks btc`)
	add(fUnit, `kg g mg lb lbs oz km m cm mm mi ft mile miles meter meters metre metres kilometer kilometers kilometre kilometres foot feet inch inches
		yard yards acre acres hectare hectares gram grams kilogram kilograms kilo kilos ton tons tonne tonnes pound pounds ounce ounces liter liters litre
		litres l ml gallon gallons cup cups degree degrees percent mph kph km/h kb mb gb tb pb kib mib gib bytes bits mbps gbps hz khz mhz ghz
		w kw mw kwh mwh v volt volts watt watts amp amps mah cal kcal calories rpm px pixels bpm people employees users students members customers inhabitants
		pages chapters episodes games goals votes seats rooms floors stories copies units points copies times reps sets laps steps`)
	add(fConn, `am of the de von van der den di da del della la le les du des and y e al bin ibn zu und et for in & dos das el`)
	add(fAbbrev, `mr mrs ms dr prof st mt sr jr inc ltd co corp vs etc eg ie e.g i.e no nos fig al approx dept est gen col lt sgt rev hon gov sen rep vol
		ed pp ca cf jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri ave blvd rd`)
	add(fGerman|fStop|fForeign, `der das und ist nicht ein eine einen einem einer mit ich auf für wir sie sich dem den des auch werden wurde hat haben sind im zum zur
		aber oder wenn noch nur wie bei nach aus dass durch über unter zwischen mein meine unser unsere ihr ihre sein seine kein keine gestern heute morgen war waren am`)
	add(fStop|fForeign, `le les des une est dans pour que qui sur avec pas plus je nous vous mon ma mes il elle el los las una unos por con como pero más yo mi su sus
		es son era fue está il lo gli per che non sono della nel alla um uma não com para mais meu minha een het niet ik zijn van voor met`)
}
