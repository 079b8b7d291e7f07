package rules

// addCues adds the open lists by which names are typed, and words that a sentence may begin with.
func addCues(add adder, _ numAdder) {
	add(fTitle|fAbbrev, `mr mrs ms dr prof sir lady lord dame`)
	add(fTitle, `miss mister doctor professor president senator king queen prince princess pope captain colonel general sergeant lieutenant
		judge justice rabbi father sister uncle aunt grandma grandpa herr frau monsieur madame señor señora saint rev reverend chancellor minister
		governor mayor emperor empress duke duchess baron count bishop archbishop cardinal coach chef`)
	add(fOrg, `inc ltd llc llp plc gmbh ag corp corporation company co university college institute school academy bank museum foundation
		association society committee commission council agency ministry department bureau office parliament senate congress court church
		hospital clinic team club fc united orchestra band records studios pictures entertainment productions press publishing media
		newspaper times tribune gazette technologies technology systems software labs laboratories laboratory group holdings partners ventures capital
		airlines airways railway railways motors industries union league federation alliance party army navy corps police cooperative
		universität université universidad verein stiftung bv sarl srl spa oy ab consulting solutions services network networks broadcasting
		channel radio television library conservatory polytechnic organization organisation authority administration consortium nations trust enterprises brewery bakery restaurant cafe café`)
	add(fLoc, `city town village county district province state republic kingdom island islands isle mountain mountains mount hill hills valley river
		creek lake bay gulf sea ocean strait canal desert forest peninsula coast beach harbor harbour port cape street st avenue ave road rd boulevard
		blvd lane drive square plaza park garden gardens bridge tower castle palace cathedral airport station stadium arena hall heights falls
		region territory parish borough municipality township canton prefecture continent north south east west northern southern eastern
		western straße platz rue piazza calle airport temple mosque monastery abbey fort reservoir basin plateau glacier volcano zoo mall`)
	add(fEvent, `war battle festival cup olympics games championship championships tournament conference summit election elections revolution treaty
		rebellion siege massacre crisis award awards prize expo fair exhibition marathon gala wedding parade congress convention earthquake hurricane
		pandemic holocaust reformation renaissance christmas easter halloween thanksgiving hanukkah ramadan diwali hackathon meetup workshop race open grand prix`)
	add(fProject, `project operation mission initiative program programme`)
	add(fProduct, `iphone ipad macbook android windows linux ubuntu macos photoshop excel powerpoint playstation xbox nintendo kindle alexa siri gmail
		slack github gitlab docker kubernetes terraform postgres postgresql mysql sqlite redis kafka mongodb elasticsearch python javascript typescript
		golang rust java kotlin swift django flask react angular vue nodejs chatgpt gpt claude gemini llama whatsapp instagram facebook twitter youtube tiktok
		netflix spotify photoshop figma notion jira confluence trello zoom skype bitcoin ethereum tesla prius corolla civic mustang`)
	add(fStarter, `hi hello hey thanks thank yes yeah yep no nope ok okay sure wow oh ah well great good nice cool awesome amazing wonderful sorry please
		congrats congratulations haha lol hmm right true false absolutely definitely exactly sounds looks feels glad happy sad remember maybe perhaps
		today tomorrow yesterday tonight now later recently currently finally first second third next last lastly additionally also besides
		overall anyway actually basically honestly unfortunately fortunately hopefully luckily interestingly according based given despite
		during following including using regarding depending according instead similarly likewise generally specifically especially note notes
		example step steps tip tips option options question answer user assistant system important warning error info summary conclusion
		introduction overview background pros cons here's i'd how's where's dear best regards cheers welcome bye goodbye morning afternoon evening
		people things something everyone guys folks men women children kids life love time work things way days years mom dad mum mama papa
		can't won't couldn't wouldn't new old big small high low early late long short many several most some all`)
	add(fKin, `wife husband partner spouse fiancé fiancée fiance fiancee girlfriend boyfriend mother father mom dad mum mama papa parents son daughter child
		children kid kids baby brother sister siblings sibling twin uncle aunt cousin nephew niece grandmother grandfather grandma grandpa
		grandson granddaughter stepmother stepfather friend friends bestie roommate flatmate neighbor neighbour colleague coworker co-worker boss manager mentor teacher doctor dentist
		therapist coach trainer landlord tutor dog cat puppy kitten pet horse parrot hamster ex ex-wife ex-husband mother-in-law father-in-law brother-in-law sister-in-law
		godmother godfather godson assistant lawyer accountant`)
	add(fRole, `engineer developer programmer founder co-founder cofounder ceo cto cfo coo director manager president chairman chairwoman chair
		secretary minister teacher professor lecturer doctor nurse surgeon physician dentist lawyer attorney judge accountant architect designer
		artist painter sculptor singer musician composer guitarist drummer pianist actor actress writer author novelist poet journalist editor
		reporter photographer filmmaker producer chef cook baker waiter barista farmer gardener pilot driver mechanic electrician plumber
		carpenter builder scientist physicist chemist biologist mathematician historian philosopher economist psychologist therapist
		counselor consultant analyst researcher student intern apprentice librarian librarians politician senator governor mayor king queen
		emperor general captain soldier officer firefighter policeman detective player footballer coach athlete runner swimmer boxer
		inventor explorer astronaut businessman businesswoman entrepreneur investor banker broker salesman translator host presenter
		comedian dancer model vegetarian vegan veteran freelancer contractor owner leader head member lead vp administrator operator sophomore freshman senior junior`)
	add(fAdj, `new old big small high low early late long short good bad great little young large best better major main important public local
		national international american british former current first second third last next favorite favourite own real true free full
		beautiful nice happy sad different several many few such certain recent popular famous`)
}
