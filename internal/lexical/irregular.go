package lexical

import "strings"

// irregularForms lists base forms with their irregular inflected forms. A question often
// has the base form ("what did she buy?") where the statement has the past ("I bought").
// The list leaves out forms that are mostly another word: rose, bit, bore, lay, ground,
// wound, bound, does, leaves, lives.
const irregularForms = `
arise arose arisen; awake awoke awoken; bear born borne; beat beaten; become became; begin began begun; bend bent; bite bitten;
bleed bled; blow blew blown; break broke broken; breed bred; bring brought; build built; burn burnt; buy bought; catch caught;
choose chose chosen; come came; creep crept; deal dealt; dig dug; draw drew drawn; dream dreamt; drink drank drunk;
drive drove driven; eat ate eaten; fall fell fallen; feed fed; feel felt; fight fought; find found; fly flew flown; forbid forbade forbidden;
forget forgot forgotten; forgive forgave forgiven; freeze froze frozen; get got gotten; give gave given; go went gone; grow grew grown;
hang hung; hear heard; hide hid hidden; hold held; keep kept; kneel knelt; know knew known; lead led; lean leant; leap leapt;
learn learnt; leave left; lend lent; light lit; lose lost; make made; mean meant; meet met; mistake mistook mistaken; oversee oversaw overseen;
overcome overcame; pay paid; prove proven; rebuild rebuilt; ride rode ridden; ring rang rung; rise risen; run ran; say said; see saw seen; seek sought;
sell sold; send sent; sew sewn; shake shook shaken; shine shone; shoot shot; show shown; shrink shrank shrunk; sing sang sung; sink sank sunk;
sit sat; sleep slept; slide slid; speak spoke spoken; spend spent; spin spun; stand stood; steal stole stolen; stick stuck; sting stung;
strike struck stricken; strive strove striven; swear swore sworn; sweep swept; swim swam swum; swing swung; take took taken;
teach taught; tear tore torn; tell told; think thought; throw threw thrown; undergo underwent undergone; understand understood;
undertake undertook undertaken; wake woke woken; wear wore worn; weave wove woven; weep wept; win won; withdraw withdrew withdrawn; write wrote written;
rewrite rewrote rewritten;
child children; man men; woman women; foot feet; tooth teeth; goose geese; mouse mice; ox oxen; wife wives; knife knives; wolf wolves;
shelf shelves; thief thieves; half halves; calf calves; loaf loaves; scarf scarves;
analysis analyses; hypothesis hypotheses; thesis theses; synthesis syntheses; parenthesis parentheses; crisis crises; diagnosis diagnoses;
basis bases; axis axes; vortex vortices; vertex vertices; matrix matrices; index indices; appendix appendices; phenomenon phenomena;
criterion criteria; bacterium bacteria; medium media; curriculum curricula; stimulus stimuli; nucleus nuclei; radius radii; fungus fungi;
alumnus alumni; spectrum spectra; stratum strata; momentum momenta; formula formulae; antenna antennae`

// irregular maps an irregular form to its base.
var irregular = func() map[string]string {
	m := make(map[string]string, 400)
	for _, entry := range strings.Split(irregularForms, ";") {
		f := strings.Fields(entry)
		for _, form := range f[1:] {
			m[form] = f[0]
		}
	}
	return m
}()
