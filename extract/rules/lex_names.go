package rules

// Common given names of several languages, lower case without accents where both spellings occur.
const givenNames = `
aaron abby abdul abigail ada adam adele adrian agnes ahmed aisha akira alan albert alberto alejandro alessandro alex alexander alexandra alexis alfred alice
alicia alison allison alma alyssa amanda amber amelia amina amir amy ana anastasia anders andre andrea andreas andrei andrew andy angel angela angelica
anil anita anja ann anna anne annette annie anthony antoine antonio anya april arjun armando arnold arthur arturo asha ashley astrid audrey aurora ava ayesha
barbara barry beatrice becky belinda ben benedict benjamin bernard bernhard beth bethany betty bianca bill billy birgit björn bjorn blake bob bobby brad
bradley brandon brenda brent brett brian bridget britney brittany brooke bruce bruno bryan caleb calvin cameron camila camille carl carla carlos carmen
carol carolina caroline carolyn carrie catherine cecilia cedric chad chandra charles charlie charlotte chelsea cheryl chloe chris christian christina
christine christoph christopher cindy claire clara clarence claude claudia clement clifford clint clive colin connie connor conrad constance corey courtney
craig cristina curtis cynthia daisy dale damian damien dan dana daniel daniela danielle danny daphne daria darius darren darryl dave david dawn dean deborah
debbie debra deepak denise dennis derek desmond devon diana diane diego dieter dimitri dmitri dolores dominic don donald donna dora doreen doris dorothy doug
douglas drew duncan dustin dwayne dylan earl eddie edgar edith edmund eduardo edward edwin eileen elaine eleanor elena eli elias elijah elisa elizabeth
ella ellen elliot elliott elsa emil emilia emilio emily emma emmanuel enrique eric erica erich erik erika erin ernest ernesto ernst esteban esther ethan
eugene eva evan evelyn fabian faith farah fatima felicia felipe felix fernando fiona florence frances francesca francesco francis francisco francois frank
franz fred freddie frederick frida friedrich gabriel gabriela gabrielle gareth gary gavin gemma gene genevieve geoffrey george georgia gerald gerard gerhard
giovanni gina giulia giuseppe gladys glen glenn gloria gordon grace graham greg gregory greta guido guillermo gustav guy gwen hannah hans harold harriet harry
harvey hassan hazel heather hector heidi heinrich helen helena helga henri henrik henry herbert herman hiroshi holly howard hugh hugo hussein ian ibrahim
ida ignacio igor imran ines ingrid irene irina iris isaac isabel isabella isabelle ivan jack jackie jackson jacob jacqueline jacques jaime jake jamal james
jamie jan jana jane janet janice jared jasmine jason javier jean jeanette jeff jeffrey jen jenna jennifer jenny jeremy jerome jerry jesse jessica jessie
jill jim jimmy jin jo joan joanna joanne joaquin jochen joe joel johan johann johannes john johnny jon jonas jonathan jordan jorge jose josef joseph josephine
josh joshua joyce juan juanita judith judy julia julian juliana julie juliet julius jun june jürgen juergen justin kai kamal karen karin karl karla kate
katherine kathleen kathryn kathy katie katrina kay keith kelly ken kenji kenneth kenny kerry kevin khalid kim kimberly kirsten klaus krishna kristen kristin
kristina kumar kurt kyle kylie lance larry lars laura lauren laurence laurent lawrence leah lee leila lena leo leon leonard leonardo leroy leslie lewis liam
lillian lily lin linda lindsay lindsey lionel lisa liz logan lois lola lorenzo lori lorraine louis louisa louise luca lucas lucia lucy luigi luis lukas luke
luna lydia lynn mabel madeleine madison maggie mahmoud malcolm mandy manfred manuel marc marcel marcia marco marcos marcus margaret margarita maria mariam
marian marianne marie mario marion marisa marjorie mark markus marsha marta martha martin martina mary maryam mateo mathias matt matteo matthew matthias
maurice max maxwell maya megan mehmet mei mel melanie melinda melissa melody melvin mercedes meredith mia michael michaela michel michelle miguel mikhail mike
mila mildred miles milo mina miranda miriam mitchell mohamed mohammed molly mona monica monika monique morgan moritz muhammad murray myra nadia nancy naomi
natalia natalie natasha nathan nathaniel neha neil nelson nicholas nick nicola nicolas nicole nigel niklas nikolai nina noah noel nora norma norman olaf
oleg olga oliver olivia omar oscar otto pablo pamela paolo pascal pat patricia patrick paul paula pauline pedro peggy penelope penny percy perry pete peter petra
phil philip philipp philippe phillip phoebe pierre pilar priya rachel rafael rahul raj rajesh ralph ramesh ramon randy raquel rashid raul ravi ray raymond rebecca
regina reginald rene renee rhonda ricardo richard rick ricky rita rob robert roberta roberto robin rocio rodney rodrigo roger roland rolf roman ron ronald
ronnie rosa rosemary rosie ross roxanne roy ruby rudolf rupert russell ruth ryan sabine sabrina sally salma salvador sam samantha samir samuel sandra sandy
sanjay santiago sara sarah sasha saul scott sean sebastian selena serena sergei sergio seth shane shannon sharon shaun shawn sheila shelley sherry shirley
sidney siegfried silvia simon simone sofia sofie sonia sonja sophia sophie stacey stacy stan stanley stefan stefanie stella stephan stephanie stephen steve
steven stuart sue sunil susan susanna susanne suzanne svetlana sven sylvia tamara tammy tania tanya tara tariq tatiana taylor ted terence teresa terrence terri
terry tessa thelma theo theodore theresa thomas tiffany tim timothy tina tobias toby todd tom tomas tommy toni tony tracy trevor tricia tristan troy tyler
ulrich ulrike ursula uwe valentina valeria valerie vanessa vera veronica vicki vicky victor victoria vijay vikram vincent viola violet virginia vivian vladimir
wade walter wanda warren wayne wei wendy werner wesley whitney wilhelm will willem william willie winston wolfgang xavier yan yasmin yolanda yosef yuki
yuri yusuf yvette yvonne zachary zahra zainab zoe zoltan`

// Countries, capitals, large cities and states of one word.
const placeWords = `
afghanistan albania algeria andorra angola argentina armenia australia austria azerbaijan bahamas bahrain bangladesh barbados belarus belgium belize benin
bhutan bolivia bosnia botswana brazil brunei bulgaria burundi cambodia cameroon canada chad chile china colombia congo croatia cuba cyprus czechia denmark
djibouti ecuador egypt england eritrea estonia ethiopia europe asia africa america antarctica fiji finland france gabon gambia georgia germany ghana greece
greenland grenada guatemala guinea guyana haiti honduras hungary iceland india indonesia iran iraq ireland israel italy jamaica japan jordan kazakhstan kenya
kosovo kuwait kyrgyzstan laos latvia lebanon lesotho liberia libya liechtenstein lithuania luxembourg madagascar malawi malaysia maldives mali malta mauritania
mauritius mexico moldova monaco mongolia montenegro montserrat morocco mozambique myanmar namibia nepal netherlands nicaragua niger nigeria norway oman pakistan palestine
panama paraguay peru philippines poland portugal qatar romania russia rwanda samoa scotland senegal serbia seychelles singapore slovakia slovenia somalia
spain sudan suriname sweden switzerland syria taiwan tajikistan tanzania thailand tibet togo tonga tunisia turkey turkmenistan tuvalu uganda ukraine uruguay
usa uk uae uzbekistan vanuatu vatican venezuela vietnam wales yemen zambia zimbabwe deutschland österreich schweiz frankreich españa italia
alabama alaska arizona arkansas california colorado connecticut delaware florida hawaii idaho illinois indiana iowa kansas kentucky louisiana maine maryland
massachusetts michigan minnesota mississippi missouri montana nebraska nevada ohio oklahoma oregon pennsylvania tennessee texas utah vermont washington
wisconsin wyoming ontario quebec alberta manitoba saskatchewan bavaria saxony catalonia tuscany sicily lombardy normandy brittany provence siberia
amsterdam ankara antwerp athens atlanta auckland austin baghdad baltimore bangalore bangkok barcelona basel beijing beirut belfast belgrade bergen berlin bern
birmingham bogota bologna bonn boston bratislava bremen brisbane bristol brooklyn brussels bucharest budapest cairo calgary cambridge canberra caracas
cardiff casablanca chennai chicago cincinnati cleveland cologne copenhagen cork dallas damascus delhi denver detroit dhaka dresden dubai dublin dusseldorf
edinburgh eindhoven florence frankfurt geneva genoa ghent glasgow gothenburg graz guangzhou halifax hamburg hanoi hanover havana heidelberg helsinki hiroshima
honolulu houston hyderabad indianapolis istanbul jakarta jerusalem johannesburg karachi kathmandu kharkiv kolkata krakow kyiv kyoto lagos lahore lausanne
leeds leicester leipzig lille lima lisbon liverpool ljubljana london luxor lviv lyon madrid malaga manchester manhattan manila marrakesh marseille melbourne
memphis miami milan minneapolis minsk montevideo montreal moscow mumbai munich münchen nairobi nantes naples nashville newcastle nice nottingham nuremberg odessa
osaka oslo ottawa oxford palermo paris perth philadelphia phoenix pisa pittsburgh porto portland prague pretoria pune quito reykjavik riga rome rotterdam
sacramento salzburg santiago sapporo sarajevo seattle seoul seville shanghai sheffield shenzhen sofia stockholm strasbourg stuttgart sydney taipei tallinn tampa
tbilisi tehran tokyo toronto toulouse trieste tripoli tucson tunis turin utrecht valencia vancouver venice verona vienna vilnius warsaw wellington wien winnipeg
wroclaw yerevan yokohama zagreb zurich zürich göttingen tübingen`

// Places of more than one word, by key.
var placePhrases = keySet(`new york|new york city|new zealand|new jersey|new mexico|new hampshire|new orleans|new delhi|south africa|south korea|north korea|
north carolina|south carolina|north dakota|south dakota|west virginia|rhode island|united states|united states of america|united kingdom|great britain|
united arab emirates|saudi arabia|sri lanka|costa rica|el salvador|puerto rico|dominican republic|czech republic|hong kong|los angeles|san francisco|
san diego|san jose|san antonio|las vegas|salt lake city|kansas city|fort worth|el paso|saint petersburg|st petersburg|cape town|buenos aires|rio de janeiro|
sao paulo|mexico city|tel aviv|abu dhabi|kuala lumpur|ho chi minh city|silicon valley|wall street|middle east|latin america|north america|south america|
eastern europe|western europe|southeast asia|british columbia|nova scotia|papua new guinea|burkina faso|sierra leone|ivory coast|cape verde|the hague|hague|
european union|soviet union|washington dc|us|east coast|west coast|times square|central park|bay area|solomon islands`)

// Nationalities and languages.
const demonyms = `
american english british german french spanish italian portuguese dutch russian chinese japanese korean indian polish swedish norwegian danish finnish greek
turkish arabic hebrew irish scottish welsh mexican brazilian canadian australian austrian swiss belgian czech hungarian romanian bulgarian serbian
croatian ukrainian egyptian iranian iraqi israeli pakistani bangladeshi vietnamese thai indonesian malaysian filipino african asian european latin
nigerian kenyan ethiopian moroccan argentine argentinian chilean colombian peruvian venezuelan cuban jamaican mandarin cantonese hindi urdu bengali
tamil telugu punjabi swahili persian farsi catalan basque icelandic estonian latvian lithuanian slovak slovenian albanian armenian georgian roman
jewish christian catholic muslim islamic buddhist hindu protestant orthodox democratic republican soviet ottoman byzantine victorian medieval gothic deutsch français español`
