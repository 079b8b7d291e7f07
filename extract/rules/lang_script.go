package rules

// The tables of languages that are written without spaces. In Chinese a phrase begins with its subject or follows a
// name; in Japanese it follows the topic.

var chinese = (&scriptLanguage{
	forms: `dislikes|{s}不喜欢{o}。|我不喜欢{o},我不喜歡{o},我不爱{o},我不愛{o},我讨厌{o},我討厭{o},我不太喜欢{o},我不太喜歡{o}|讨厌{o},不喜欢{o},不喜歡{o}
prefers|{s}更喜欢{o}。|我更喜欢{o},我更喜歡{o},我比较喜欢{o},我比較喜歡{o}|更喜欢{o}
likes|{s}喜欢{o}。|我很喜欢{o},我很喜歡{o},我非常喜欢{o},我最喜欢{o},我最喜歡{o},我也喜欢{o},我喜欢{o},我喜歡{o},我爱{o},我愛{o}|喜欢{o},喜歡{o}
-lives_in|{s}不再住在{o}。|我不再住在{o},我不住在{o},我已经不住在{o},我已經不住在{o},我以前住在{o}|不再住在{o}
lives_in|{s}住在{o}。|我现在住在{o},我現在住在{o},我住在{o},我住{o},我居住在{o},我家在{o}|现在住在{o},現在住在{o},住在{o}
@lives_in|{s}搬到了{o}。|我搬到了{o},我搬到{o},我搬去了{o},我搬家到{o}|搬到了{o},搬到{o}
-works_at|{s}不再在{o}工作。|我不再在{o}工作,我不在{o}工作,我以前在{o}工作,我以前在{o}上班|不再在{o}工作
works_at|{s}在{o}工作。|我现在在{o}工作,我現在在{o}工作,我在{o}工作,我在{o}上班,我就职于{o}|在{o}工作,在{o}上班
has_role|{s}是{o}。|我是一名{o},我是一个{o},我是一位{o},我的职业是{o},我的工作是{o}|是一名{o},是一位{o}
name|{s}叫{o}。|我叫{o},我的名字叫{o},我的名字是{o},我姓名是{o}
age|{s}{o}岁。|我今年{o}岁,我今年{o}歲,我{o}岁,我{o}歲,我已经{o}岁|今年{o}岁
birthday|{s}的生日是{o}。|我的生日是{o},我生于{o},我出生于{o}
from|{s}来自{o}。|我来自{o},我來自{o},我是{o}人|来自{o}
speaks|{s}会说{o}。|我会说{o},我會說{o}|会说{o}
allergic_to|{s}对{o}过敏。|我对{o}过敏,我對{o}過敏|对{o}过敏
!eats|{s}不吃{o}。|我不吃{o}|不吃{o}
wants|{s}想要{o}。|我想要{o},我想学{o},我想去{o}`,
	kin:      `妻子=wife 老婆=wife 太太=wife 丈夫=husband 老公=husband 女朋友=girlfriend 男朋友=boyfriend 妈妈=mother 媽媽=mother 母亲=mother 爸爸=father 父亲=father 儿子=son 兒子=son 女儿=daughter 女兒=daughter 哥哥=brother 弟弟=brother 姐姐=sister 妹妹=sister 爷爷=grandfather 奶奶=grandmother 朋友=friend 老板=boss 同事=colleague 狗=dog 猫=cat`,
	kinForms: `我的{k}叫{o},我{k}叫{o},我的{k}名叫{o},我的{k}是{o},我{k}是{o}`,
	kinText:  `{s}是{o}的{k}。`,
	marks:    "，,；;。.！!",
	openers:  []string{"但是", "不过", "不過", "而且", "然后", "然後", "所以", "因为", "因為", "其实", "其實", "可是", "另外", "从", "今天", "现在", "現在"},
	ends:     []string{"了", "呢", "啊", "吧", "啦", "哦", "嗯"},
	cuts:     []string{"因为", "因為", "但是", "所以", "不过", "不過", "可是", "已经", "已經"},
	joins:    []string{"、", "以及", "还有", "和", "跟"},
	self:     []string{"我"},
	others:   []string{"我", "你", "他", "她", "它", "您", "咱", "俺", "这", "那", "這", "谁", "誰", "们", "們", "也", "都", "就", "还", "不", "人", "现在", "以前", "如果"},
	ask:      []string{"吗", "嗎", "什么", "什麼", "哪", "谁", "誰", "如果", "要是", "？", "?"},
}).prepare()

var japanese = (&scriptLanguage{
	forms: `dislikes|{s}は{o}が嫌いです。|{o}が好きではない,{o}が好きではありません,{o}が好きじゃない,{o}は好きではない,{o}は好きではありません,{o}は好きじゃない,{o}が嫌い,{o}は嫌い,{o}がきらい,{o}が苦手,{o}は苦手|{o}が好きではありません,{o}が好きじゃない,{o}が嫌い,{o}が苦手
likes|{s}は{o}が好きです。|{o}が大好き,{o}が好き,{o}がすき,{o}は大好き|{o}が大好き,{o}が好き
-lives_in|{s}はもう{o}に住んでいません。|{o}には住んでいません,{o}に住んでいません,{o}には住んでいない,{o}に住んでいない,{o}に住んでいました|{o}には住んでいません,{o}に住んでいません,{o}に住んでいました
lives_in|{s}は{o}に住んでいます。|{o}に住んでいます,{o}に住んでいる,{o}に住んでる,{o}に住んで|{o}に住んでいます,{o}に住んでいる,{o}に住んで
@lives_in|{s}は{o}に引っ越しました。|{o}に引っ越しました,{o}に引っ越した,{o}へ引っ越しました,{o}に引越しました|{o}に引っ越しました,{o}に引っ越した
-works_at|{s}は{o}を辞めました。|{o}では働いていません,{o}で働いていません,{o}を辞めました,{o}で働いていました|{o}を辞めました,{o}で働いていました
works_at|{s}は{o}で働いています。|{o}で働いています,{o}で働いている,{o}で働いて,{o}に勤めています,{o}に勤めている,{o}に勤務しています|{o}で働いています,{o}で働いている,{o}に勤めています
has_role|{s}は{o}です。|仕事は{o}です,職業は{o}です,私の仕事は{o}です
name|{s}の名前は{o}です。|私の名前は{o}です,僕の名前は{o}です,名前は{o}です,{o}と申します,{o}といいます,{o}と言います
age|{s}は{o}歳です。|{o}歳です,{o}歳になりました,{o}才です|{o}歳です
birthday|{s}の誕生日は{o}です。|私の誕生日は{o}です,誕生日は{o}です,誕生日は{o}
from|{s}は{o}出身です。|{o}出身です,{o}の出身です,出身は{o}です|{o}出身です
speaks|{s}は{o}を話します。|{o}を話します,{o}が話せます|{o}を話します
allergic_to|{s}は{o}アレルギーです。|{o}アレルギーです,{o}アレルギーがあります|{o}アレルギーです
!eats|{s}は{o}を食べません。|{o}を食べません,{o}は食べません,{o}を食べない|{o}を食べません
wants|{s}は{o}が欲しいです。|{o}が欲しい,{o}がほしい|{o}が欲しい`,
	kin:      `妻=wife 奥さん=wife 夫=husband 主人=husband 旦那=husband 彼女=girlfriend 彼氏=boyfriend 母=mother お母さん=mother 父=father お父さん=father 息子=son 娘=daughter 兄=brother 弟=brother 姉=sister 妹=sister 祖母=grandmother 祖父=grandfather 友達=friend 友人=friend 上司=boss 同僚=colleague 犬=dog 猫=cat`,
	kinForms: `私の{k}の名前は{o}です,僕の{k}の名前は{o}です,{k}の名前は{o}です,私の{k}は{o}です,{k}は{o}といいます,{k}は{o}と言います`,
	kinText:  `{s}は{o}の{k}です。`,
	marks:    "、，,。.！!；;",
	openers:  []string{"そして", "しかし", "だから", "でも", "実は", "もう", "今は", "現在は", "現在", "また", "あと"},
	ends:     []string{"です", "だ"},
	cuts:     []string{"ですが", "けど", "から"},
	joins:    []string{"や"},
	topic:    "は",
	self:     []string{"私は", "僕は", "俺は", "わたしは", "ぼくは", "あたしは", "自分は", "私も", "僕も"},
	others:   []string{"彼", "彼女", "あなた", "君", "これ", "それ", "あれ", "誰", "どこ", "何"},
	titles:   []string{"さん", "くん", "ちゃん", "氏", "様"},
	ask:      []string{"ますか", "ですか", "でしょうか", "何", "どこ", "誰", "もし", "？", "?"},
}).prepare()
