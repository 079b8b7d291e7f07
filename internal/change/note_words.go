package change

import (
	"strings"

	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// Kinds of values that a note may have.
const (
	kindDay = iota
	kindClock
	kindDate
	kindPrice
	kindNumber
	valueKinds
)

// valueOf has the expressions of the kinds; days and months are read as words too.
var valueOf = [valueKinds]*lazyregexp.Regexp{
	kindClock:  lazyregexp.New(`(?i)\d{1,2}[:.]\d{2}(?:\D|$)|\d ?(?:am|pm|uhr|h)(?:[^\pL]|$)|(?:^|[^\pL])(?:at|à|a las|alle|às|om) \d{1,2}(?:\D|$)|\d[点點時시]`),
	kindDate:   lazyregexp.New(`(?i)\d(?:st|nd|rd|th)(?:[^\pL]|$)|\d[月日号號일]`),
	kindPrice:  lazyregexp.New(`(?i)[£$€¥] ?\d|\d ?(?:[£$€]|quid|euros?|pounds?|k|zł|руб)(?:[^\pL]|$)`),
	kindNumber: lazyregexp.New(`\p{Nd}`),
}

// readWord notes what a word in lower case says.
func (l *looked) readWord(w string) {
	if i := strings.IndexAny(w, "'’"); i > 0 {
		w = w[:i]
	}
	l.adds = l.adds || alsoWords[w]
	l.once = l.once || onceWords[w]
	l.kinds[kindDate] = l.kinds[kindDate] || monthWords[w]
	if otherPeople[w] {
		l.others[w] = true
	}
}

// readSigns notes what is said in scripts in which words are not told apart, or have endings.
func (l *looked) readSigns(text string) {
	contains := func(all []string) bool {
		for _, s := range all {
			if strings.Contains(text, s) {
				return true
			}
		}
		return false
	}
	l.cue = l.cue || contains(changeSigns)
	l.adds = l.adds || contains(alsoSigns)
	l.once = l.once || contains(onceSigns)
	for _, s := range otherSigns {
		if strings.Contains(text, s) {
			l.others[s] = true
		}
	}
}

// Words of notes in the languages of the training stores.
var (
	// noteCues end something or put something else in its place.
	noteCues = words(`now longer anymore instead moved moves switch switched change changed changes swap swapped swapping replaced replaces quit sold off cancelled canceled gone split stopped stops pushed push postponed rescheduled
		takes took handed finally lost died dropped froze pulled bumped back again new ditched binned scrapped left dead broke broken closed closing shut retired resigned gave given moving ripped done finished over dumped sacked fired
		taken taking covers covering reset upgraded passed no
		jetzt nun neu neue neuer neues gezogen verschoben verlegt mehr aus statt wieder ab verkauft weg gekündigt umgezogen gestorben kaputt geschlossen zu fertig aufgehört abgesagt stattdessen ersetzt raus
		ahora nuevo nueva mudado mudada ya cambiado vendí vendido cerró cerrado jubiló dejado dejo fue ido cambiamos roto lesionado
		maintenant nouveau nouvelle plus repoussé changé changée coup vendu fermé fermée quitte quitté parti partie cassé cassée déménagé arrêté annulé fini passé remplacé désormais
		adesso ora nuovo nuova spostato spostata passano venduto chiuso chiusa lasciato partito rotto cambiato finito annullato torna trasferita trasferito
		agora novo nova mudou mudei vendi fechou saiu mudaram quebrou acabou demitido larguei tranquei trocou operou
		nu nieuwe niet weer verkocht gesloten dicht gestopt kapot overgezet opgeheven verhuisd geannuleerd wordt
		теперь больше продал уволилась уволился ушёл переехал переехала закрыли бросил вернулась пропал
		artık satıldı kapandı ayrılmış ayrıldı bıraktı taşındı değişti sattı yeni bytt nya
		teraz nowy nowa sprzedał zamknięty wyprowadziła odszedł rzuciła już zamiast ukradli
		باع انتقل انتقلنا نقلناه سافر تأجل أجلت صار الآن छोड़ बंद चला गया अब बदली बदल`)
	changeSigns = strings.Fields("改 了 変 換 换 更 今 辞 推 转 移 やめ 異動 搬 跳槽 調 调 关 坏 偷 なくな 使えな 돌아가 바꿈 옮김 그만 바뀌 이제 지금 現在 现在")
	doubts      = words(`might maybe perhaps if would could joke wants asked vielleicht würde könnte wenn peut-être si quizás forse se talvez`)
	// alsoWords say that something is so as well, or still.
	alsoWords = words(`too also well still either another second both auch weiterhin ebenso noch también igual sigue siguen aussi toujours encore anche pure ancora também ainda ook nog też także również wciąż тоже также ещё еще
		hâlâ hala ayrıca أيضا كمان لسه भी`)
	alsoSigns = strings.Fields("也 还 還 まだ")
	// onceWords tell of one occasion.
	onceWords = words(`yesterday ago once week weekend tonight tried borrowed gestern vorgestern neulich woche ayer anoche semana hier semaine ieri settimana ontem gisteren wczoraj вчера сегодня dün أمس امبارح कल`)
	onceSigns = strings.Fields("昨日 昨天 今天 어제 오늘")
	// otherPeople are people by what they are to the owner.
	otherPeople = words(`brother sister bro sis mum mom mother dad father parents folks nan gran grandma grandpa granny uncle aunt auntie cousin nephew niece wife husband partner son daughter kid kids boyfriend girlfriend neighbour neighbours
		neighbor neighbors boss manager colleague friend mate flatmate competitor upstairs downstairs twin landlord
		bruder schwester mutter vater mama papa oma opa onkel tante cousine mann frau sohn tochter nachbar nachbarin nachbarn chef chefin kollege freundin freund
		hermano hermana madre padre abuela abuelo tío tía primo prima marido mujer hijo hija vecino vecina jefe jefa sobrina sobrino
		frère sœur soeur mère père maman mamie papi oncle mari femme fils fille voisin voisine voisins collègue
		fratello sorella nonna nonno zio zia cugino cugina marito moglie figlio figlia vicino vicina collega
		irmão irmã mãe pai avó avô vó tio esposa filho filha vizinho vizinha chefe
		broer zus moeder vader ma pa oom nicht neef zoon dochter buurman buurvrouw baas schoonvader
		brat siostra tata babcia dziadek mąż żona syn córka sąsiad sąsiadka szef
		брат сестра мама папа бабушка дедушка муж жена сын дочь сосед соседка соседей начальник мужа брата сестры
		kardeşim ablam abim annem babam eşim kızım oğlum komşu komşum patron
		أختي أخي أمي أبي زوجي زوجتي ابني بنتي جارتي الجيران भाई बहन माँ पापा पति पत्नी बेटी बेटा पड़ोस`)
	otherSigns = strings.Fields("妹 姉 兄 弟 母 父 夫 妻 息子 娘 隣 上司 妈 爸 哥 姐 邻 隔壁 楼上 老婆 老公 儿子 女儿 老板 동생 형 누나 언니 오빠 엄마 아빠 남편 아내 아들 딸 옆집 팀장")
	monthWords = words(`jan january feb february march apr april may june july aug august sept september oct october nov november dec december januar februar märz mai juni juli oktober dezember
		enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre janvier février mars avril juin juillet août septembre octobre novembre décembre
		gennaio febbraio aprile maggio giugno luglio settembre ottobre novembre dicembre janeiro fevereiro março maio junho julho setembro outubro dezembro januari februari maart mei augustus
		stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia января февраля марта апреля мая июня июля августа сентября октября ноября декабря
		ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık يناير مارس أبريل مايو يونيو मार्च अप्रैल मई जून`)
	// functionWords say nothing of what a note is about.
	functionWords = words(`the a an of to in on at for and or is are was were be been it its it's that this with by from as so but if not no do does did have has had will can than then there here all any up out over he she they them his her their you your
		der die das den dem des ein eine einen einem und ist sind im in am zu zum zur mit von vom für bei auf hat le la les de du des un une et est en au aux à il elle pour avec el los las una y es con por se lo gli e di da del della per che
		o os as um uma do na no em het een van op met en w z na i do и в на у с`)
)
