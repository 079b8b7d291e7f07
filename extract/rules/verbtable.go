package rules

// verbTable lists the verbs that make relations, see addVerbs.
const verbTable = `
work works worked worked working: at|for|with works_at >ORGANIZATION <PERSON functional; as has_role functional; on works_on; in works_in
live lives lived lived living: in|at|near lives_in >LOCATION functional; with lives_with >PERSON relationship
reside: in|at lives_in >LOCATION <PERSON functional
move: to|into lives_in >LOCATION event functional; from moved_from >LOCATION event
relocate: to lives_in >LOCATION event functional; from moved_from >LOCATION event
settle: in lives_in >LOCATION functional
bear bears bore born|borne bearing: +in|at|near born_in >LOCATION <PERSON functional; +on born_on functional; +to child_of >PERSON
grow grows grew grown growing: up born_in; - grows
raise: - raises; +in raised_in >LOCATION <PERSON; +by raised_by >PERSON
die dies died died dying: in died_in >LOCATION <PERSON; of|from died_of
find finds found found finding: - found event
found founds founded founded founding: - founded <PERSON event; +in founded_in
cofound: - founded <PERSON event
co-found: - founded <PERSON event
establish: - founded; +in founded_in
create: - created event; +in created_in
invent: - created event
develop: - created
design: - created
build builds built built building: - created event; +in built_in
write writes wrote written writing: - wrote event; about wrote_about; to wrote_to
author: - wrote
compose: - wrote
paint: - painted
draw draws drew drawn drawing: - drew
direct: - directed
produce: - produced
publish: - published; +in published_in
release: - released; +in|on released_in
record: - recorded
perform: - performed; in|at|with performed_in
star stars starred starred starring: in starred_in; as starred_as; - stars
act: in acted_in; as acted_as
play: for plays_for >ORGANIZATION functional; with plays_with >PERSON; in plays_in; as plays_as; - plays preference
win wins won won winning: - won event; at|in won_at event
lose loses lost lost losing: - lost event; to lost_to
own: - owns
possess: - owns
have has had had having: - has
acquire: - acquired event
purchase: - bought event; from bought_from
buy buys bought bought buying: - bought event; from bought_from event
sell sells sold sold selling: - sold event; to sold_to
merge: with merged_with
marry: - married_to >PERSON <PERSON relationship functional; +to married_to >PERSON <PERSON relationship functional
engage: +to engaged_to >PERSON <PERSON relationship functional; in engages_in
divorce: - divorced_from >PERSON relationship; +from divorced_from >PERSON relationship
date: - dates >PERSON relationship
meet meets met met meeting: - met >PERSON event; with met >PERSON event
know knows knew known knowing: - knows
adopt: - adopted event
love: - likes preference
like: - likes preference
adore: - likes preference
enjoy: - likes preference
prefer prefers preferred preferred preferring: - prefers preference
favor: - prefers preference
hate: - dislikes preference
dislike: - dislikes preference
detest: - dislikes preference
avoid: - avoids preference
want: - wants goal
need: - needs goal
hope: - hopes goal; for hopes_for goal
plan plans planned planned planning: - plans goal; for|on plans goal
intend: - intends goal
aim: for|at aims_for goal; - aims goal
dream: of|about dreams_of goal
decide: - decided event; on decided_on event
use: - uses
utilize: - uses
employ: - employs >PERSON <ORGANIZATION
hire: - hired >PERSON event; +by|at works_at >ORGANIZATION functional event
depend: on|upon depends_on
rely: on|upon depends_on
require: - depends_on
run runs ran run running: on runs_on; - runs; in ran_in; for ran_for
support: - supports
replace: - replaces; with replaced_with
contain: - contains
include: - contains
consist: of contains
comprise: - contains
belong: to belongs_to
join: - member_of event
lead leads led led leading: - leads; to leads_to
head: - leads
manage: - manages
chair: - leads
report: to reports_to >PERSON <PERSON functional
study: at|in studied_at >ORGANIZATION; - studies; under studied_under >PERSON
graduate: from studied_at >ORGANIZATION event; in graduated_in event
attend: - attended event
enroll: in|at studied_at >ORGANIZATION event
major: in studies
teach teaches taught taught teaching: at teaches_at >ORGANIZATION; - teaches; in teaches_in
speak speaks spoke spoken speaking: - speaks; to|with spoke_with >PERSON event; at spoke_at event; about spoke_about
learn learns learned|learnt learned|learnt learning: - learns; about learned_about; from learned_from
visit: - visited event
travel travels traveled|travelled traveled|travelled traveling|travelling: to|through visited >LOCATION event; with travels_with >PERSON
go goes went gone going: to went_to event; with went_with event; on went_on event
return: to|from returned_to event
arrive: in|at arrived_in event
leave leaves left left leaving: - left event; for left_for event
stay: in|at stayed_in event; with stayed_with event
fly flies flew flown flying: to|into flew_to event; from flew_from event; - flies
drive drives drove driven driving: to drove_to event; - drives
locate: +in|at|near|on located_in >LOCATION
situate: +in|at|near|on located_in >LOCATION
base: +in|at located_in >LOCATION; +on based_on
headquarter: +in|at located_in >LOCATION
lie lies lay lain lying: in|on|near located_in >LOCATION
border: - borders >LOCATION
flow: into|through flows_into >LOCATION
name names named named naming: +after|for named_after; +by named_by
call: +by called
know: +as also_known_as; +for known_for
appoint: +as has_role; - appointed >PERSON
elect: +as has_role; - elected >PERSON; +in elected_in
become becomes became become becoming: - is_a
serve: as has_role; in|at|with served_in; - serves
succeed: - succeeded >PERSON; in succeeded_in
follow: - follows
precede: - preceded
cause: - causes
fix: - fixed event
break breaks broke broken breaking: - broke event
affect: - affects
affiliate: +with|to affiliated_with
associate: +with associated_with
relate: +to related_to
connect: +to connected_to; to connected_to
fund: - funded
sponsor: - funded
invest: in invested_in event
donate: to donated_to event
receive: - received event; from received_from
award: - awarded; +with received
give gives gave given giving: - gave event; to gave_to event
send sends sent sent sending: - sent event; to sent_to event
call: - called event
email: - emailed >PERSON event
contact: - contacted event
invite: - invited >PERSON event; to invited_to
help: - helps; with helps_with
interview: - interviewed event; at|with interviewed_at >ORGANIZATION event
apply: to|for applied_to event
eat eats ate eaten eating: - eats preference; at ate_at event
drink drinks drank drunk drinking: - drinks preference
cook: - cooks
bake: - bakes
watch: - watched event
read reads read read reading: - read event; about read_about
listen: to listens_to preference
collect: - collects preference
practice: - practices preference
volunteer: at|for|with volunteers_at >ORGANIZATION
train: for trains_for goal; with|at trains_with
celebrate: - celebrated event
start: - started event; at started_at >ORGANIZATION event
begin begins began begun beginning: - started event
finish: - finished event
complete: - finished event
launch: - launched event
open: - opened event
close: - closed event
quit quits quit|quitted quit quitting: - quit event
stop stops stopped stopped stopping:
deploy: - deployed; to|on deployed_to
install: - installed; on installed_on
migrate: to|from migrated_to event
upgrade: to upgraded_to event; - upgraded event
implement: - implements
integrate: with integrates_with
host: - hosts; +on|by|at hosted_on
store: +in stored_in
assign: +to assigned_to; - assigned
review: - reviewed
approve: - approved
block: +by blocked_by
subscribe: to subscribes_to
switch: to switched_to event; from switched_from event
celebrate: - celebrated
adopt: - adopted event
trust: - trusts
fear: - fears preference
crave: - likes preference
suffer: from has_condition
weigh: - weighs functional
measure: - measures
cost costs cost cost costing: - costs
order: - ordered event; from ordered_from event
book: - booked event
cancel cancels canceled|cancelled canceled|cancelled canceling|cancelling: - canceled event
sign: - signed event; with signed_with >ORGANIZATION event; up signed_up event
retire: from retired_from event
earn: - earns
save: - saved; for saves_for goal
see sees saw seen seeing: - saw event
hear hears heard heard hearing: - heard; about|from heard_about
make makes made made making: - made event
take takes took taken taking: - took event
get gets got gotten|got getting: - got event; to got_to event
bring brings brought brought bringing: - brought event
keep keeps kept kept keeping: - keeps
`

// plainVerbs are verbs without a relation of their own; irregular ones give all five forms.
const plainVerbs = `
do/does/did/done/doing say/says/said/said/saying tell/tells/told/told/telling think/thinks/thought/thought/thinking come/comes/came/come/coming
feel/feels/felt/felt/feeling hold/holds/held/held/holding let/lets/let/let/letting put/puts/put/put/putting set/sets/set/set/setting
show/shows/showed/shown/showing sit/sits/sat/sat/sitting stand/stands/stood/stood/standing spend/spends/spent/spent/spending
understand/understands/understood/understood/understanding fall/falls/fell/fallen/falling cut/cuts/cut/cut/cutting hit/hits/hit/hit/hitting
sing/sings/sang/sung/singing swim/swims/swam/swum/swimming sleep/sleeps/slept/slept/sleeping wear/wears/wore/worn/wearing
wake/wakes/woke/woken/waking ride/rides/rode/ridden/riding rise/rises/rose/risen/rising throw/throws/threw/thrown/throwing
catch/catches/caught/caught/catching choose/chooses/chose/chosen/choosing forget/forgets/forgot/forgotten/forgetting hurt/hurts/hurt/hurt/hurting
pay/pays/paid/paid/paying send/sends/sent/sent/sending shut/shuts/shut/shut/shutting spread/spreads/spread/spread/spreading
steal/steals/stole/stolen/stealing fight/fights/fought/fought/fighting feed/feeds/fed/fed/feeding lend/lends/lent/lent/lending
grow/grows/grew/grown/growing hang/hangs/hung/hung/hanging hide/hides/hid/hidden/hiding mean/means/meant/meant/meaning
seek/seeks/sought/sought/seeking shake/shakes/shook/shaken/shaking shoot/shoots/shot/shot/shooting sew/sews/sewed/sewn/sewing
bet/bets/bet/bet/betting bite/bites/bit/bitten/biting blow/blows/blew/blown/blowing dig/digs/dug/dug/digging
admit/admits/admitted/admitted/admitting refer/refers/referred/referred/referring occur/occurs/occurred/occurred/occurring
ask answer look seem try turn talk walk change allow add create happen remember consider appear wait expect suggest
discuss check share agree explain believe continue offer notice thank miss wonder worry recommend struggle notice mention
explore update reach test ship push pull commit rewrite paint dance hike camp ski surf climb knit garden fish paddle jog bike cycle
swap drop pick pass clean wash fold pack unpack wrap hug kiss laugh cry smile relax rest nap exercise stretch prepare organize arrange
schedule postpone delay reschedule attempt handle solve debug document deliver attach describe define compare measure calculate
relish cherish treasure admire appreciate respect welcome greet introduce present propose promise refuse accept reject deny claim argue
improve increase decrease reduce raise grow expand extend limit remove delete insert replace restore recover repair rent lease borrow
highlight summarize format track adjust note march ensure assume imagine guess doubt realize recognize identify confirm verify validate
`
