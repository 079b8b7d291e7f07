package rules

// The tables of languages in Latin script. A line of forms is: predicate with its marks (see newForm); the sentence that
// states it; phrases in the first person; phrases behind a name. Objects follow a phrase or stand at {o}.

var spanish = language{
	flag:     fSpanish,
	function: `el la los las del que y en un una unos unas por con mi mis su sus soy eres es somos está estoy muy vivo trabajo como pero más te mudé mudó mudado viví vivía trabajaba vive trabaja gusta gustan encanta prefiero llamo tengo años nací ayer hoy mañana pasado hace desde ya odio hablo`,
	forms: `likes|A {s} le gusta {o}.|me gusta,me gustan,me gusta mucho,me gustan mucho,me encanta,me encantan,adoro,me fascina,me fascinan|adora,le gusta,le gustan,le encanta
dislikes|A {s} no le gusta {o}.|no me gusta,no me gustan,no me gusta nada,odio,detesto,no soporto|odia,detesta,no le gusta
prefers|{s} prefiere {o}.|prefiero|prefiere
favorite|{k} favorito de {s}: {o}.|mi * favorito es,mi * favorita es,mi * preferido es,mi * preferida es
lives_in|{s} vive en {o}.|vivo en,ahora vivo en,vivo ahora en,resido en|vive en,reside en
@lives_in|{s} se mudó a {o}.|me mudé a,me he mudado a,me mudo a,nos mudamos a|se mudó a,se ha mudado a
-lives_in|{s} ya no vive en {o}.|ya no vivo en,no vivo más en,vivía en,antes vivía en|ya no vive en,vivía en
works_at|{s} trabaja en {o}.|trabajo en,trabajo para,ahora trabajo en|trabaja en,trabaja para
@works_at|{s} empezó a trabajar en {o}.|empecé a trabajar en,empecé a trabajar para|empezó a trabajar en
-works_at|{s} ya no trabaja en {o}.|ya no trabajo en,ya no trabajo para,trabajaba en,trabajaba para|ya no trabaja en,trabajaba en
has_role|{s} trabaja como {o}.|trabajo como,trabajo de|trabaja como
is_a|{s} es {o}.|soy un,soy una|es un,es una
name|{s} se llama {o}.|me llamo,mi nombre es
age|{s} tiene {o} años.|tengo {o} años|tiene {o} años
birthday|El cumpleaños de {s} es el {o}.|mi cumpleaños es el,mi cumpleaños es en,nací el|nació el
from|{s} es de {o}.|soy de,vengo de|es de
speaks|{s} habla {o}.|hablo|habla
allergic_to|{s} tiene alergia a {o}.|soy alérgico a,soy alérgica a,tengo alergia a|es alérgico a,es alérgica a
wants|{s} quiere {o}.|quiero,quisiera,me gustaría|quiere`,
	kin:      `esposa=wife mujer=wife esposo=husband marido=husband novia=girlfriend novio=boyfriend madre=mother mamá=mother padre=father papá=father hijo=son hija=daughter hermano=brother hermana=sister tío=uncle tía=aunt primo=cousin prima=cousin abuela=grandmother abuelo=grandfather amigo=friend amiga=friend jefe=boss jefa=boss perro=dog perra=dog gato=cat gata=cat`,
	kinForms: `mi {k} se llama,mi {k} es,mi {k}`,
	kinText:  `{s} es {k} de {o}.`,
	articles: `el la los las un una unos unas lo al`,
	cuts:     `pero porque como que cuando donde desde hace con y e mientras aunque ayer hoy en para por mucho ahora`,
	joins:    `y e o u ni`,
	not:      `si ojalá`,
	weekdays: `domingo lunes martes miércoles jueves viernes sábado`,
	seasons:  `invierno primavera verano otoño`,
	numbers:  `un=1 una=1 dos=2 tres=3 cuatro=4 cinco=5 seis=6 siete=7 ocho=8 nueve=9 diez=10 once=11 doce=12 veinte=20`,
	dates: `-1 day|ayer,anoche
-2 day|anteayer,antes de ayer
0 day|hoy,esta mañana,esta tarde,esta noche
1 day|mañana por la mañana,mañana por la tarde
2 day|pasado mañana
-1 week|la semana pasada
1 week|la próxima semana,la semana que viene
0 week|esta semana
-1 weekend|el fin de semana pasado
0 weekend|este fin de semana
-1 month|el mes pasado
1 month|el próximo mes,el mes que viene
0 month|este mes
-1 year|el año pasado
1 year|el próximo año,el año que viene
0 year|este año
-1 {w}|el {w} pasado,el pasado {w}
1 {w}|el próximo {w},el {w} que viene
-1 {s}|el {s} pasado,la {s} pasada
-n day|hace {n} días,hace {n} día
-n week|hace {n} semanas,hace {n} semana
-n month|hace {n} meses,hace {n} mes
-n year|hace {n} años,hace {n} año
n day|dentro de {n} días,en {n} días
n week|dentro de {n} semanas,en {n} semanas
n month|dentro de {n} meses,en {n} meses`,
}

var german = language{
	flag:     fGerman,
	function: `ich mag liebe hasse wohne wohnt lebe arbeite arbeitet heiße bin seit bei gern gerne esse trinke komme spreche meinem meiner meinen gezogen letzte letzten letztes nächste nächsten vor`,
	forms: `likes|{s} mag {o}.|ich mag,ich liebe,ich mag sehr,mir gefällt,mir gefallen,mag ich,liebe ich|mag,liebt
likes|{s} trinkt gern {o}.|ich trinke gern,ich trinke gerne|trinkt gern,trinkt gerne
likes|{s} isst gern {o}.|ich esse gern,ich esse gerne|isst gern,isst gerne
dislikes|{s} mag kein {o}.|ich mag kein,ich mag keine,ich mag keinen,ich hasse,ich mag {o} nicht,ich mag {o} überhaupt nicht|hasst,mag kein,mag keine,mag keinen
prefers|{s} bevorzugt {o}.|ich bevorzuge,ich trinke lieber,ich esse lieber|bevorzugt
lives_in|{s} wohnt in {o}.|ich wohne in,wohne ich in,ich lebe in,lebe ich in,ich wohne jetzt in,ich wohne seit * in|wohnt in,lebt in
@lives_in|{s} ist nach {o} gezogen.|ich bin nach {o} gezogen,bin ich nach {o} gezogen,ich bin * nach {o} gezogen,ich bin * * nach {o} gezogen,ich bin im * nach {o} gezogen,ich zog nach,ich ziehe nach|ist nach {o} gezogen,zog nach
-lives_in|{s} wohnt nicht mehr in {o}.|ich wohne nicht mehr in,ich lebe nicht mehr in,ich habe früher in {o} gewohnt,ich wohnte in|wohnt nicht mehr in
works_at|{s} arbeitet bei {o}.|ich arbeite bei,arbeite ich bei,ich arbeite für,ich arbeite jetzt bei,ich bin bei {o} angestellt|arbeitet bei,arbeitet für
-works_at|{s} arbeitet nicht mehr bei {o}.|ich arbeite nicht mehr bei,ich habe früher bei {o} gearbeitet|arbeitet nicht mehr bei
has_role|{s} arbeitet als {o}.|ich arbeite als,ich bin von beruf|arbeitet als
is_a|{s} ist {o}.|ich bin ein,ich bin eine|ist ein,ist eine
name|{s} heißt {o}.|ich heiße,mein name ist
age|{s} ist {o} Jahre alt.|ich bin {o} jahre alt|ist {o} jahre alt
birthday|{s} hat am {o} Geburtstag.|mein geburtstag ist am,ich habe am {o} geburtstag,ich bin am {o} geboren|hat am {o} geburtstag
from|{s} kommt aus {o}.|ich komme aus,ich stamme aus|kommt aus,stammt aus
speaks|{s} spricht {o}.|ich spreche|spricht
allergic_to|{s} ist allergisch gegen {o}.|ich bin allergisch gegen|ist allergisch gegen
!eats|{s} isst kein {o}.|ich esse kein,ich esse keine,ich esse keinen|isst kein,isst keine
wants|{s} will {o}.|ich will,ich möchte|will,möchte`,
	kin:      `frau=wife ehefrau=wife mann=husband ehemann=husband freundin=girlfriend freund=friend mutter=mother mama=mother vater=father papa=father sohn=son tochter=daughter bruder=brother schwester=sister onkel=uncle tante=aunt cousin=cousin cousine=cousin oma=grandmother großmutter=grandmother opa=grandfather großvater=grandfather chef=boss chefin=boss kollege=colleague kollegin=colleague hund=dog hündin=dog katze=cat kater=cat`,
	kinForms: `mein {k} heißt,meine {k} heißt,mein {k} ist,meine {k} ist,mein {k},meine {k}`,
	kinText:  `{s} ist {k} von {o}.`,
	articles: `der die das den dem des ein eine einen einem einer`,
	cuts:     `aber weil dass wenn seit und oder mit gestern heute morgen am im nicht sehr als denn sondern um vor`,
	joins:    `und oder sowie`,
	not:      `wenn falls ob würde`,
	weekdays: `sonntag montag dienstag mittwoch donnerstag freitag samstag`,
	seasons:  `winter frühling sommer herbst`,
	numbers:  `einem=1 einer=1 zwei=2 drei=3 vier=4 fünf=5 sechs=6 sieben=7 acht=8 neun=9 zehn=10 elf=11 zwölf=12 zwanzig=20`,
	dates: `-1 day|gestern,gestern abend
-2 day|vorgestern
0 day|heute,heute morgen,heute abend
1 day|morgen früh,morgen abend
2 day|übermorgen
-1 week|letzte woche,vorige woche,vergangene woche
1 week|nächste woche,kommende woche
0 week|diese woche
-1 weekend|letztes wochenende,am letzten wochenende
0 weekend|dieses wochenende,am wochenende
1 weekend|nächstes wochenende
-1 month|letzten monat,im letzten monat,vorigen monat
1 month|nächsten monat,im nächsten monat
0 month|diesen monat
-1 year|letztes jahr,im letzten jahr,voriges jahr
1 year|nächstes jahr,im nächsten jahr
0 year|dieses jahr,in diesem jahr
-1 {w}|letzten {w},am letzten {w},vergangenen {w}
1 {w}|nächsten {w},am nächsten {w},kommenden {w}
-1 {s}|letzten {s},im letzten {s}
-n day|vor {n} tagen,vor {n} tag
-n week|vor {n} wochen,vor {n} woche
-n month|vor {n} monaten,vor {n} monat
-n year|vor {n} jahren,vor {n} jahr
n day|in {n} tagen,in {n} tag
n week|in {n} wochen,in {n} woche
n month|in {n} monaten,in {n} monat
n year|in {n} jahren`,
}

var french = language{
	flag:     fFrench,
	function: `le la les des du une un est et je tu il elle nous vous mon ma mes pas pour que qui dans sur avec j'aime j'adore j'habite j'ai j'étais je suis très mais aussi chez déteste préfère travaille m'appelle m'a n'aime n'habite depuis hier demain aujourd'hui dernier dernière prochain prochaine s'appelle j'en à habite`,
	forms: `likes|{s} aime {o}.|j'aime,j'aime bien,j'aime beaucoup,j'adore|aime,adore
dislikes|{s} n'aime pas {o}.|je n'aime pas,j'aime pas,je n'aime pas du tout,je déteste|n'aime pas,déteste
prefers|{s} préfère {o}.|je préfère|préfère
favorite|{k} de {s} : {o}.|mon * préféré est,ma * préférée est
lives_in|{s} habite à {o}.|j'habite à,j'habite en,j'habite au,je vis à,je vis en,je vis au,j'habite maintenant à|habite à,habite en,vit à,vit en
@lives_in|{s} a déménagé à {o}.|j'ai déménagé à,j'ai emménagé à,je me suis installé à,je me suis installée à|a déménagé à,a emménagé à
-lives_in|{s} n'habite plus à {o}.|je n'habite plus à,je n'habite plus en,je ne vis plus à,j'habitais à,je vivais à|n'habite plus à,habitait à
works_at|{s} travaille chez {o}.|je travaille chez,je travaille pour,je travaille à|travaille chez,travaille pour
@works_at|{s} a commencé à travailler chez {o}.|j'ai commencé à travailler chez|a commencé à travailler chez
-works_at|{s} ne travaille plus chez {o}.|je ne travaille plus chez,je ne travaille plus pour,je travaillais chez|ne travaille plus chez,travaillait chez
has_role|{s} travaille comme {o}.|je travaille comme|travaille comme
is_a|{s} est {o}.|je suis un,je suis une|est un,est une
name|{s} s'appelle {o}.|je m'appelle,mon nom est
age|{s} a {o} ans.|j'ai {o} ans|a {o} ans
birthday|L'anniversaire de {s} est le {o}.|mon anniversaire est le,mon anniversaire c'est le,je suis né le,je suis née le|est né le,est née le
from|{s} vient de {o}.|je viens de,je suis de|vient de
speaks|{s} parle {o}.|je parle|parle
allergic_to|{s} est allergique à {o}.|je suis allergique à,je suis allergique aux,je suis allergique au|est allergique à,est allergique aux
!eats|{s} ne mange pas {o}.|je ne mange pas de,je ne mange pas|ne mange pas de
wants|{s} veut {o}.|je veux,je voudrais|veut`,
	kin:      `femme=wife épouse=wife mari=husband époux=husband copine=girlfriend copain=boyfriend mère=mother maman=mother père=father papa=father fils=son fille=daughter frère=brother soeur=sister sœur=sister oncle=uncle tante=aunt cousin=cousin cousine=cousin grand-mère=grandmother grand-père=grandfather ami=friend amie=friend chef=boss patron=boss collègue=colleague chien=dog chienne=dog chat=cat chatte=cat`,
	kinForms: `mon {k} s'appelle,ma {k} s'appelle,mon {k} est,ma {k} est,mon {k},ma {k}`,
	kinText:  `{s} est {k} de {o}.`,
	articles: `le la les l' un une des du de`,
	cuts:     `mais parce que quand où depuis et avec hier aujourd'hui dans pour car beaucoup maintenant comme à`,
	joins:    `et ou ni`,
	not:      `si`,
	weekdays: `dimanche lundi mardi mercredi jeudi vendredi samedi`,
	seasons:  `hiver printemps été automne`,
	numbers:  `un=1 une=1 deux=2 trois=3 quatre=4 cinq=5 six=6 sept=7 huit=8 neuf=9 dix=10 onze=11 douze=12 vingt=20`,
	dates: `-1 day|hier,hier soir
-2 day|avant-hier
0 day|aujourd'hui,ce matin,ce soir
1 day|demain
2 day|après-demain
-1 week|la semaine dernière,la semaine passée
1 week|la semaine prochaine
0 week|cette semaine
-1 weekend|le week-end dernier,le weekend dernier
0 weekend|ce week-end,ce weekend
-1 month|le mois dernier
1 month|le mois prochain
0 month|ce mois-ci
-1 year|l'année dernière,l'an dernier
1 year|l'année prochaine,l'an prochain
0 year|cette année
-1 {w}|{w} dernier
1 {w}|{w} prochain
-1 {s}|l'{s} dernier,le {s} dernier
-n day|il y a {n} jours,il y a {n} jour
-n week|il y a {n} semaines,il y a {n} semaine
-n month|il y a {n} mois
-n year|il y a {n} ans,il y a {n} an
n day|dans {n} jours
n week|dans {n} semaines
n month|dans {n} mois
n year|dans {n} ans`,
}

var portuguese = language{
	flag:     fPortuguese,
	function: `o os as um uma eu não com para meu minha meus minhas em do da dos das mas muito gosto moro trabalho tenho anos sou adoro odeio prefiro chamo falo nasci ontem hoje amanhã passado passada próximo próxima há desde mora trabalha gosta se e que de`,
	forms: `likes|{s} gosta de {o}.|gosto de,gosto muito de,eu gosto de,adoro,amo,gosto do,gosto da,gosto dos,gosto das|gosta de,gosta do,gosta da,adora,ama
dislikes|{s} não gosta de {o}.|não gosto de,não gosto do,não gosto da,não gosto nada de,odeio,detesto|não gosta de,odeia,detesta
prefers|{s} prefere {o}.|prefiro|prefere
favorite|{k} favorito de {s}: {o}.|meu * favorito é,minha * favorita é,meu * preferido é,minha * preferida é
lives_in|{s} mora em {o}.|moro em,moro no,moro na,vivo em,vivo no,vivo na,agora moro em,moro agora em|mora em,mora no,mora na,vive em
@lives_in|{s} mudou-se para {o}.|me mudei para,mudei-me para,eu me mudei para,mudei para|se mudou para,mudou-se para
-lives_in|{s} já não mora em {o}.|não moro mais em,já não moro em,já não vivo em,não vivo mais em,eu morava em,morava em|não mora mais em,já não mora em,morava em
works_at|{s} trabalha em {o}.|trabalho em,trabalho na,trabalho no,trabalho para a,trabalho para o,trabalho para|trabalha em,trabalha na,trabalha no,trabalha para
@works_at|{s} começou a trabalhar em {o}.|comecei a trabalhar na,comecei a trabalhar no,comecei a trabalhar em|começou a trabalhar na,começou a trabalhar em
-works_at|{s} já não trabalha em {o}.|não trabalho mais em,não trabalho mais na,não trabalho mais no,já não trabalho em,já não trabalho na,trabalhava na,trabalhava em|não trabalha mais na,já não trabalha em
has_role|{s} trabalha como {o}.|trabalho como|trabalha como
is_a|{s} é {o}.|sou um,sou uma|é um,é uma
name|{s} se chama {o}.|me chamo,chamo-me,meu nome é,o meu nome é
age|{s} tem {o} anos.|tenho {o} anos|tem {o} anos
birthday|O aniversário de {s} é {o}.|meu aniversário é em,meu aniversário é no dia,meu aniversário é dia,o meu aniversário é a,nasci em,nasci no dia|nasceu em,nasceu no dia
from|{s} é de {o}.|sou de,sou do,sou da,venho de|é de,é do
speaks|{s} fala {o}.|falo|fala
allergic_to|{s} tem alergia a {o}.|sou alérgico a,sou alérgica a,tenho alergia a|é alérgico a,é alérgica a,tem alergia a
!eats|{s} não come {o}.|não como|não come
wants|{s} quer {o}.|quero,gostaria de|quer`,
	kin:      `esposa=wife mulher=wife marido=husband esposo=husband namorada=girlfriend namorado=boyfriend mãe=mother pai=father filho=son filha=daughter irmão=brother irmã=sister tio=uncle tia=aunt primo=cousin prima=cousin avó=grandmother avô=grandfather amigo=friend amiga=friend chefe=boss colega=colleague cachorro=dog cachorra=dog cão=dog gato=cat gata=cat`,
	kinForms: `meu {k} se chama,minha {k} se chama,meu {k} chama-se,minha {k} chama-se,meu {k} é,minha {k} é,meu {k},minha {k}`,
	kinText:  `{s} é {k} de {o}.`,
	articles: `o a os as um uma uns umas`,
	cuts:     `mas porque como que quando onde desde há com e enquanto ontem hoje em para por muito agora`,
	joins:    `e ou nem`,
	not:      `se talvez`,
	weekdays: `domingo segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado`,
	seasons:  `inverno primavera verão outono`,
	numbers:  `um=1 uma=1 dois=2 duas=2 três=3 quatro=4 cinco=5 seis=6 sete=7 oito=8 nove=9 dez=10 onze=11 doze=12 vinte=20`,
	dates: `-1 day|ontem,ontem à noite
-2 day|anteontem
0 day|hoje,esta manhã,esta noite
1 day|amanhã
2 day|depois de amanhã
-1 week|na semana passada,a semana passada,semana passada
1 week|na próxima semana,a próxima semana,semana que vem
0 week|esta semana
-1 weekend|no fim de semana passado,o fim de semana passado
0 weekend|este fim de semana,neste fim de semana
-1 month|no mês passado,o mês passado,mês passado
1 month|no próximo mês,o próximo mês,mês que vem
0 month|este mês
-1 year|no ano passado,o ano passado,ano passado
1 year|no próximo ano,o próximo ano,ano que vem
0 year|este ano
-1 {w}|na {w} passada,no {w} passado,{w} passada,{w} passado
1 {w}|na próxima {w},no próximo {w}
-1 {s}|no {s} passado,o {s} passado
-n day|há {n} dias,há {n} dia,{n} dias atrás
-n week|há {n} semanas,há {n} semana,{n} semanas atrás
-n month|há {n} meses,há {n} mês,{n} meses atrás
-n year|há {n} anos,há {n} ano,{n} anos atrás
n day|daqui a {n} dias,em {n} dias
n week|daqui a {n} semanas,em {n} semanas
n month|daqui a {n} meses,em {n} meses`,
}

var italian = language{
	flag:     fItalian,
	function: `il lo gli che è di un una uno per con mio mia miei mie non sono mi piace piacciono vivo abito lavoro molto anche ho anni odio preferisco chiamo parlo ieri oggi domani scorso scorsa prossimo prossima fa da tra fra tre ci si della del dei delle nel nella alla ma e la le`,
	forms: `likes|A {s} piace {o}.|mi piace,mi piacciono,mi piace molto,mi piacciono molto,adoro,amo|adora,ama
dislikes|A {s} non piace {o}.|non mi piace,non mi piacciono,odio,detesto,non sopporto|odia,detesta
prefers|{s} preferisce {o}.|preferisco|preferisce
favorite|{k} preferito di {s}: {o}.|il mio * preferito è,la mia * preferita è
lives_in|{s} vive a {o}.|vivo a,vivo in,abito a,abito in,ora vivo a|vive a,vive in,abita a,abita in
@lives_in|{s} si è trasferito a {o}.|mi sono trasferito a,mi sono trasferita a,mi sono trasferito in,mi sono trasferita in|si è trasferito a,si è trasferita a
-lives_in|{s} non vive più a {o}.|non vivo più a,non abito più a,non vivo più in,vivevo a,abitavo a|non vive più a,viveva a
works_at|{s} lavora per {o}.|lavoro per,lavoro alla,lavoro alle,lavoro presso,lavoro in,lavoro da|lavora per,lavora alla,lavora presso,lavora in
@works_at|{s} ha iniziato a lavorare per {o}.|ho iniziato a lavorare per,ho iniziato a lavorare alla|ha iniziato a lavorare per
-works_at|{s} non lavora più per {o}.|non lavoro più per,non lavoro più alla,non lavoro più presso,lavoravo per,lavoravo alla|non lavora più per,lavorava per
has_role|{s} lavora come {o}.|lavoro come,faccio il,faccio la|lavora come,fa il,fa la
is_a|{s} è {o}.|sono un,sono una|è un,è una
name|{s} si chiama {o}.|mi chiamo,il mio nome è
age|{s} ha {o} anni.|ho {o} anni|ha {o} anni
birthday|Il compleanno di {s} è il {o}.|il mio compleanno è il,sono nato il,sono nata il|è nato il,è nata il
from|{s} viene da {o}.|vengo da,sono di|viene da,è di
speaks|{s} parla {o}.|parlo|parla
allergic_to|{s} è allergico a {o}.|sono allergico a,sono allergica a,sono allergico ai,sono allergica ai,sono allergico alle,sono allergica alle|è allergico a,è allergica a
!eats|{s} non mangia {o}.|non mangio|non mangia
wants|{s} vuole {o}.|voglio,vorrei|vuole`,
	kin:      `moglie=wife marito=husband ragazza=girlfriend fidanzata=girlfriend ragazzo=boyfriend fidanzato=boyfriend madre=mother mamma=mother padre=father papà=father figlio=son figlia=daughter fratello=brother sorella=sister zio=uncle zia=aunt cugino=cousin cugina=cousin nonna=grandmother nonno=grandfather amico=friend amica=friend capo=boss collega=colleague cane=dog gatto=cat gatta=cat`,
	kinForms: `mio {k} si chiama,mia {k} si chiama,mio {k} è,mia {k} è,mio {k},mia {k}`,
	kinText:  `{s} è {k} di {o}.`,
	articles: `il lo la i gli le l' un uno una dei delle degli`,
	cuts:     `ma perché come che quando dove da e con mentre ieri oggi in per molto ora`,
	joins:    `e ed o né`,
	not:      `se forse`,
	weekdays: `domenica lunedì martedì mercoledì giovedì venerdì sabato`,
	seasons:  `inverno primavera estate autunno`,
	numbers:  `un=1 uno=1 una=1 due=2 tre=3 quattro=4 cinque=5 sei=6 sette=7 otto=8 nove=9 dieci=10 undici=11 dodici=12 venti=20`,
	dates: `-1 day|ieri,ieri sera
-2 day|l'altro ieri,l'altroieri
0 day|oggi,stamattina,stasera
1 day|domani
2 day|dopodomani
-1 week|la settimana scorsa,la scorsa settimana
1 week|la settimana prossima,la prossima settimana
0 week|questa settimana
-1 weekend|lo scorso fine settimana,il fine settimana scorso
0 weekend|questo fine settimana
-1 month|il mese scorso,lo scorso mese
1 month|il mese prossimo,il prossimo mese
0 month|questo mese
-1 year|l'anno scorso,lo scorso anno
1 year|l'anno prossimo,il prossimo anno
0 year|quest'anno
-1 {w}|{w} scorso,lo scorso {w},{w} scorsa
1 {w}|{w} prossimo,{w} prossima
-1 {s}|l'{s} scorsa,l'{s} scorso,la scorsa {s}
-n day|{n} giorni fa,{n} giorno fa
-n week|{n} settimane fa,{n} settimana fa
-n month|{n} mesi fa,{n} mese fa
-n year|{n} anni fa,{n} anno fa
n day|tra {n} giorni,fra {n} giorni
n week|tra {n} settimane,fra {n} settimane
n month|tra {n} mesi,fra {n} mesi
n year|tra {n} anni,fra {n} anni`,
}
