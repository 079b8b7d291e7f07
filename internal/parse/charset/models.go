package charset

import (
	"math"
	"unicode"
)

// The models list the letters of a language by frequency, as corpus linguistics publishes it. The log-probabilities fall linearly in this
// order; exact counts would not distinguish charsets better.

var cyrillicModels = []charModel{{
	freq: ranks(
		tier{-2.2, -5.6, "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэф"},
		tier{-6, -7, "ёіїєъґ"},
		tier{-7, -8, "ўјљњћђџ"},
	),
	vowels: runeSet("оеаиуяыюэёіїє"),
	rest:   -11,
	own:    inTable(unicode.Cyrillic),
	mixed:  8,
}}

var greekModels = []charModel{{
	freq: ranks(
		tier{-2.2, -5.6, "αοιετσνηυρπκμλςωδγχθφβξζψ"},
		tier{-4.2, -5.5, "άίόέήύώ"},
		tier{-8, -9, "ϊϋΐΰ"},
	),
	vowels: runeSet("αοιεηυωάίόέήύώϊϋΐΰ"),
	rest:   -11,
	own:    inTable(unicode.Greek),
	mixed:  8,
}}

var hebrewModels = []charModel{{
	freq:  ranks(tier{-2.2, -5, "יוהלאמרשתבנחדעקפכםגסזצטןךףץ"}),
	rest:  -9,
	own:   inTable(unicode.Hebrew),
	mixed: 8,
}}

var arabicModels = []charModel{{
	freq: ranks(
		tier{-2, -5.6, "اليمونرتبةعدسفهكقأحجشطصىخإذزثضغئ"},
		tier{-6, -7, "ءآظؤـ،؟"},
		tier{-6.5, -8, "یگپچژک"},
	),
	rest:  -9,
	own:   inTable(unicode.Arabic),
	mixed: 8,
}}

var thaiModels = []charModel{{
	freq:  ranks(tier{-2.6, -6.5, "านรอกเงม่้ยลวดสตัีทะไค็ปิบหใแขพจชนูุำถโ์ผึ๊ฐซศษณญธภฝฟฉฏฎฑฒฆฌฬฮ๋ๆฯ"}),
	rest:  -9,
	own:   inTable(unicode.Thai),
	mixed: 8,
}}

// latin returns the model of a language in Latin letters: its non-ASCII letters with their frequency among all letters.
func latin(tiers ...tier) charModel {
	m := charModel{freq: ranks(tiers...), rest: -10.5, own: inTable(unicode.Latin), sparse: true}
	share := 0.0
	for _, p := range m.freq {
		share += math.Exp(p)
	}
	m.absence = -math.Log1p(-share)
	return m
}

var westModels = []charModel{
	latin(tier{-5, -5.9, "üäöß"}),                              // German
	latin(tier{-4, -7, "éèàêç"}, tier{-7, -8.5, "ôùîâûœëïæÿ"}), // French
	latin(tier{-4.8, -6.2, "óíáéñú"}, tier{-8.5, -8.5, "ü"}),   // Spanish
	latin(tier{-4.9, -6.6, "ãçéáíóêõúâà"}, tier{-7.5, -8.5, "ôü"}),
	latin(tier{-5.2, -7.5, "èàùòéì"}),                         // Italian
	latin(tier{-4.8, -6.6, "àóèéíòçúïü"}),                     // Catalan
	latin(tier{-2.7, -4.8, "ëç"}),                             // Albanian
	latin(tier{-5.2, -7.5, "êëéïôöè"}),                        // Afrikaans, Dutch
	latin(tier{-3.8, -5, "äöå"}, tier{-8, -8, "é"}),           // Swedish, Finnish
	latin(tier{-4.6, -5.2, "åøæ"}, tier{-8, -8.5, "éòô"}),     // Danish, Norwegian
	latin(tier{-4.3, -6.5, "áðíþæóöúéý"}),                     // Icelandic
	latin(tier{-6.8, -7.4, "éäöüáíóèàçñãêâúåøßæôîëïõòìùûÿœ"}), // names and loan words
}

var centralModels = []charModel{
	latin(tier{-4, -5.5, "łęąóżść"}, tier{-6.2, -7.2, "ńź"}),                                // Polish
	latin(tier{-3.5, -5.2, "íáéěřčžýšů"}, tier{-6, -7.5, "ľôúňóťď"}, tier{-8, -8.5, "äĺŕ"}), // Czech, Slovak
	latin(tier{-3.4, -3.5, "áé"}, tier{-4.6, -6.3, "öóőíüúű"}),                              // Hungarian
	latin(tier{-3.9, -5.3, "ăîţşâ"}, tier{-4.6, -4.8, "țș"}),                                // Romanian
	latin(tier{-4.6, -6, "čšžćđ"}),                                                          // Croatian, Slovene
}

var turkishModels = []charModel{latin(tier{-3.2, -5, "ışüçğö"}, tier{-6.2, -6.2, "İ"}, tier{-8, -8.5, "âîû"})}

var balticModels = []charModel{
	latin(tier{-4, -6, "ėųšžįūąčę"}),     // Lithuanian
	latin(tier{-3.4, -7, "āīēšūņļžčķģ"}), // Latvian
	latin(tier{-4.2, -5.2, "äõüö"}, tier{-8, -8.5, "šž"}),
}

const (
	hiragana = "のにはをたがでてとしれさいるなまこりかっもらすきよくあうけだそちみせつえめどわんやろおじべほ"
	katakana = "ンースルトリイアラクレフロドジカシタマムテプメコサパバデナグキチオブウニハセウエソツミビモノダ"
	kanji    = "日一国人年大十二本中長出三時行見月後前生五間上東四今金九入学高円子外八六下来気小七山話女北午百書先名川千水半男西電" +
		"語土木聞食車何南万毎白天母火右読友左休父雨会同事自社発者地業方新場員立開手力問代明動京目通言理体田主題意不作用度" +
		"強公持野以思家世多正安院心界教文元重近考画海売知道集別物使品計死特私始朝運終台広住無真有口少町料工建空急止送切転" +
		"研足究楽起着店病質待試族早映親験英医味写字答夜音注帰古歌悪図室歩風紙黒花春赤青館屋色秋旅服夕飲肉政経部関定実表性" +
		"的要制治成期取都和機合平回最対現点数変化調全連相加法産情当内民市首分次第然約務利予各確認設報保約果交格確原因設定提供"
	// The most frequent characters of Chinese in their simplified and traditional shapes.
	hanziS = "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种" +
		"事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第" +
		"公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合" +
		"回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总" +
		"何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听" +
		"白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运"
	hanziT = "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種" +
		"事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日軍者意無力它與長把機十民第" +
		"公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月話合" +
		"回特代內信表化老給世位次度門任常先海通教兒原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活爾更別打女變四神總" +
		"何電數安少報才結反受目太量再感建務做接必場件計管期市直德資命山金指克許統區保至隊形社便空決治展馬科司五基眼書非則聽" +
		"白卻界達光放強即像難且權思王象完設式色路記南品住告類求據程北邊死張該交規萬取拉格望覺術領共確傳師觀清今切院讓識候帶導爭運"
	hangul = "이다의에는가을지고하은도사한로기를서인어자해리그나아정대시수과일부라주들상있것전스와제으만원여장게면비보국소구마오조" +
		"년선공요거무세유야동신안경신습니까성트저했간계중회화문방물우생분관때행통위연당입모연실영현위내되개민없치단진금바" +
		"미러양더식용음말않적할란르데든려호업학력심느각던년월했었였겠된될네예외피포프크터레디"
	// fullwidthSigns are the signs of East Asian text.
	fullwidthSigns = "、。，．・：；？！「」『』（）ー〜…　《》〈〉【】“”‘’—～、"
)

var japaneseModels = []charModel{{
	freq: ranks(tier{-3.2, -5.2, hiragana}, tier{-4.6, -6.2, katakana}, tier{-5.4, -7.2, kanji}, tier{-3.8, -7, fullwidthSigns}),
	rest: -9.5,
	own: func(r rune) bool {
		// Half-width katakana are single bytes in Shift_JIS and fit nearly any data, so they do not count as own.
		return (r < 0xFF61 || r > 0xFF9F) && unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han) && r < 0x20000
	},
	mixed: 5,
}}

var simplifiedModels = []charModel{{
	freq:  ranks(tier{-3.6, -7.8, hanziS}, tier{-3.8, -7, fullwidthSigns}),
	rest:  -9.8,
	own:   inTable(unicode.Han),
	mixed: 5,
}}

var traditionalModels = []charModel{{
	freq:  ranks(tier{-3.6, -7.8, hanziT}, tier{-3.8, -7, fullwidthSigns}),
	rest:  -9.8,
	own:   inTable(unicode.Han),
	mixed: 5,
}}

var koreanModels = []charModel{{
	freq:  ranks(tier{-3.4, -7, hangul}, tier{-5, -8, fullwidthSigns}),
	rest:  -9,
	own:   func(r rune) bool { return r >= 0xAC00 && r <= 0xD7A3 },
	mixed: 5,
}}

// goodPunct has non-ASCII signs that are common in texts, and openPunct those of them that do not follow a letter.
var (
	goodPunct = runeSet("’“”–—…•«»°§·€£©®№‘„‚‹›¿¡×ªº™´\u00a0¢")
	openPunct = runeSet("“„‚‘«‹¿¡€£§©№×±")
)

// tier gives the runes of chars log-probabilities that fall linearly from first to last.
type tier struct {
	first, last float64
	chars       string
}

func ranks(tiers ...tier) map[rune]float64 {
	m := map[rune]float64{}
	for _, t := range tiers {
		chars := []rune(t.chars)
		step := (t.last - t.first) / float64(max(1, len(chars)-1))
		for i, r := range chars {
			if p := t.first + step*float64(i); m[r] == 0 || p > m[r] {
				m[r] = p
			}
		}
	}
	return m
}

func runeSet(s string) map[rune]bool {
	m := map[rune]bool{}
	for _, r := range s {
		m[r] = true
	}
	return m
}

func inTable(t *unicode.RangeTable) func(rune) bool {
	return func(r rune) bool { return unicode.Is(t, r) }
}
