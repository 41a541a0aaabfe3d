"""The function words of a language: they say how something is asked, and not what.

Such are articles, pronouns, prepositions, auxiliary verbs and question words. Those of a question
are rare or nowhere in many folders: no manual page says "I". Their idf takes them for what is
asked.
"""

from __future__ import annotations

from collections.abc import Mapping

from clew.text.stems import FUNCTION_WORDS

_NONE = frozenset[str]()
UNINFORMATIVE = FUNCTION_WORDS | frozenset(  # in English; other words say what is asked
    "a am an any as at do he i in me my no on or she so up us we".split()  # noqa: SIM905 (a list of words is read as a text)
)
FUNCTION_WORDS_OF: Mapping[str, frozenset[str]] = {
    "en": FUNCTION_WORDS,
    **{
        language: frozenset(listed.split())
        for language, listed in {
            "da": """af alle at da de dem den denne der deres det dette dig din dine disse dit du
            efter eller en er et for fra før ham han hans har havde have hende hendes her hos hun
            hvad hvem hvilke hvilken hvilket hvis hvor hvordan hvorfor hvornår i ikke jeg kan kunne
            man med meget men mig min mine mit må måtte nogen noget når og også om os over på sig
            sin sine sit skal skulle som så til ud under var ved vi vil ville vor vores være
            været""",
            "de": """ab aber alle als also am an auch auf aus bei beim bin bis bist da dabei dadurch
            dafür dagegen daher damit danach dann daran darauf daraus darf darfst darin darum das
            dass davon dazu dein deine deinem deinen deiner dem den denn der deren des dessen dich
            die dies diese diesem diesen dieser dieses dir doch du durch dürfen ein eine einem einen
            einer eines er es etwas euch euer eure für gegen gibt hab habe haben habt hast hat hatte
            hatten ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist jede jedem jeden jeder
            jedes kann kannst kein keine keinem keinen keiner können könnt könnte könnten man mein
            meine meinem meinen meiner mich mir mit muss musst musste müssen nach nicht noch nur ob
            oder ohne sein seine seinem seinen seiner seit sich sie sind so soll sollen sollst
            sollte sollten um und uns unser unsere unserem unseren unserer unter vom von vor wann
            war waren warum was weil welche welchem welchen welcher welches wem wen wenn wer werde
            werden weshalb wessen wie wieso will willst wir wird wirst wo wobei wodurch wofür woher
            wohin wollen womit woran worauf woraus worin worüber wovon wozu wurde wurden würde
            würden zu zum zur zwischen über""",
            "es": """a al algo alguien alguna algunas alguno algunos algún como con cual cuales
            cuando cuál cuáles cuándo cuánta cuántas cuánto cuántos cómo de debe debo del desde
            donde dónde e el ella ellas ellos en entre era eran eres es esa esas ese eso esos esta
            estar estas este esto estos estoy está están fue fueron ha haber había han has hasta hay
            he la las le les lo los me mi mis muy más ni no nos nosotros nuestra nuestras nuestro
            nuestros o os para pero por porque puede pueden puedes puedo que quien quienes quién
            quiénes qué se ser si sido sin sobre son soy su sus sí también te tengo ti tiene tienen
            tienes tu tus tú un una unas uno unos usted ustedes y ya yo él""",
            "fr": """afin ai alors as au aucun aucune aussi aux avait avant avec avez avoir avons c
            ce ceci cela celle celles celui ces cet cette ceux chez combien comme comment d dans de
            depuis des dois doit doivent donc dont du elle elles en entre es est et eu eux faut il
            ils j je l la laquelle le lequel les lesquelles lesquels leur leurs lui là m ma mais me
            mes moi mon n ne ni nos notre nous on ont ou où par pas pendant peut peuvent peux plus
            pour pourquoi puis qu quand que quel quelle quelles quels qui quoi s sa sans se sera ses
            si soit son sont sous suis sur t ta te tes toi ton tous tout toute toutes tu un une vos
            votre vous y à étaient était été être""",
            "it": """a ad agli ai al all alla alle allo anche avere aveva c che chi ci co col come
            con cos cosa cui d da dagli dai dal dall dalla dalle dallo degli dei del dell della
            delle dello deve devo di dopo dov dove e ed era erano essa esse essere essi fra gli ha
            hai hanno ho i il in io l la le lei li lo loro lui ma mi mia mie miei mio ne negli nei
            nel nell nella nelle nello no noi non nostra nostre nostri nostro o per perché più
            possiamo posso puoi può qual quale quali quando quanta quante quanti quanto quel quella
            quelle quelli quello quest questa queste questi questo s se sei si sia siamo siete sono
            sta stata state stati stato su sua sue sugli sui sul sull sulla sulle suo suoi ti tra tu
            tua tue tuo tuoi un una uno v vi voi vostra vostre vostri vostro è""",
            "nl": """aan al alle als ben bent bij dan dat de den der deze die dit doe doen doet door
            een en er geen haar had hadden heb hebben hebt heeft hem hen het hij hoe hoeveel hun ik
            in is je jij jou jouw jullie kan kun kunnen kunt maar me men met mij mijn moet moeten
            naar niet nog of om omdat onder ons onze ook op over te tegen tot tussen u uit uw van
            via voor waar waarin waarmee waarom waarop waarvan waarvoor wanneer waren was wat we
            welk welke werd werden wie wij wil willen word worden wordt zal ze zich zij zijn zo
            zonder zou zouden zullen""",
            "no": """alle at av da de deg dei dem den denne der dere deres det dette di din dine
            disse ditt du eg ein eit eller en enn er et etter for fra før ha hadde han hans har
            henne hennes her hos hun hva hvem hvilke hvilken hvilket hvis hvor hvordan hvorfor i
            ikke ikkje jeg kan korleis kunne kva kvar kven kvifor man med meg men mi min mine mitt
            må måtte noe noen når og også om oss over på seg si sin sine sitt skal skulle som så til
            under ut var ved vi vil ville vår våre vårt være vært å""",
            "pl": """a aby albo ale bez by bym być był była było były ci cię co czego czemu czy czym
            dla dlaczego do gdy gdzie go i ich ile im ja jak jaka jaki jakie jakiego jakiej je jego
            jej jest jestem jesteś jeśli już ją kiedy kim kto która które którego której który
            których którym którzy którą którędy ma mam mamy masz mi mnie mną mogą mogę moi moim moja
            moje mojego mojej może możesz można mu musi musisz muszę my mój na nad nam nami nas nasz
            nasza nasze nich nie nim nią niż o od on ona one oni ono oraz po pod przed przez przy
            się skąd są ta tak także tam te tego tej ten to tobie tu twoja twoje twój ty tych tym u
            w wam wami was we wy z za ze że żeby""",
            "pt": """a ao aos aquela aquele aquilo as até com como cuja cujo da das de dela dele
            deles depois desde deve devo do dos e ela elas ele eles em entre era eram essa essas
            esse esses esta estar estas este estes está estão eu foi foram há isso isto já la lhe
            lhes lo mais mas me mesmo meu meus mim minha minhas muito na nas nem no nos nossa nosso
            num numa não nós o onde os ou para pela pelas pelo pelos pode podem podemos por porque
            porquê posso quais qual quando quanta quantas quanto quantos que quem quê se sem ser
            será seu seus sido sob sobre sou sua suas são só também te tem tenho ter teu tu tua têm
            um uma umas uns você vocês à às é""",
            "ru": """а без бы был была были было быть в вам вами вас ваш ваша ваше ваши во все всё
            вы где да для до его ее ей ему если есть её же за зачем и из или им ими их к как какая
            какие каким каких какого какое какой каком какую ко когда кого кому кто куда ли либо
            между меня мне мной могу может можно мои мой мою моя моё мы на над надо нам нас наш наша
            наше наши не него нее ней нет неё ни ним них но ну нужно о об он она они оно от откуда
            по под почему при про с сам свой свою себе себя сколько со так такая такое такой там
            тебе тебя тем то того тоже той только том тот ту ты у уже чего чей чем чему через что
            чтобы чья чьё чём эта эти это этого этой этом этот эту я является являются""",
            "sv": """alla att av blev bli blir de dem den denna deras dess dessa det detta dig din
            dina ditt du där då efter eller en er era ert ett från för ha hade han hans har henne
            hennes hon honom hos hur här i inte jag kan kunde man med mellan men mig min mina mitt
            måste ni när någon något några och om oss på sig sin sina sitt ska skall skulle som så
            till under upp ut utan vad var vara varför varifrån varit vart vem vems vi vid vilka
            vilken vilket vill är åt över""",
        }.items()
    },
}
"""The function words of the languages that most questions are asked in, by ISO 639-1 code."""


def function_words_of(language: str) -> frozenset[str]:
    """Return the function words of a language; none where they are not known.

    Args:
        language: An ISO 639-1 code, or "".

    Example:
        >>> "ich" in function_words_of("de"), function_words_of("")
        (True, frozenset())
    """
    return FUNCTION_WORDS_OF.get(language, _NONE)
