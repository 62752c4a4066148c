"""Neutral sentences, which no client wrote: what a model forgets is looked for in them.

They are from the middle of two English novels in the public domain, whose best-known lines a base model may know by
heart, shortened in places: Jane Austen, Sense and Sensibility (1811), chapter 21; Charlotte Bronte, Jane Eyre (1847),
chapter 12. Whoever has a corpus in another language gives sentences of its own (``evaluation.likelihood.neutral``).
"""

from pathlib import Path

from favor.foundation.errors import UserError

_AUSTEN = (
    """
The Palmers returned to Cleveland the next day, and the two families at Barton were again left to entertain each other.
But this did not last long; Elinor had hardly got their last visitors out of her head, had hardly done wondering at
Charlotte's being so happy without a cause, at Mr. Palmer's acting so simply, with good abilities, and at the strange
unsuitableness which often existed between husband and wife, before Sir John's and Mrs. Jennings's active zeal in the
cause of society, procured her some other new acquaintance to see and observe. In a morning's excursion to Exeter, they
had met with two young ladies, whom Mrs. Jennings had the satisfaction of discovering to be her relations, and this was
enough for Sir John to invite them directly to the park, as soon as their present engagements at Exeter were over. Their
engagements at Exeter instantly gave way before such an invitation, and Lady Middleton was thrown into no little alarm
on the return of Sir John, by hearing that she was very soon to receive a visit from two girls whom she had never seen
in her life. Their being her relations too made it so much the worse; and Mrs. Jennings's attempts at consolation were
therefore unfortunately founded, when she advised her daughter not to care about their being so fashionable; because
they were all cousins and must put up with one another. As it was impossible, however, now to prevent their coming, Lady
Middleton resigned herself to the idea of it, with all the philosophy of a well-bred woman, contenting herself with
merely giving her husband a gentle reprimand on the subject five or six times every day. The young ladies arrived: their
appearance was by no means ungenteel or unfashionable. Their dress was very smart, their manners very civil, they were
delighted with the house, and in raptures with the furniture, and they happened to be so doatingly fond of children that
Lady Middleton's good opinion was engaged in their favour before they had been an hour at the Park. She declared them to
be very agreeable girls indeed, which for her ladyship was enthusiastic admiration. Sir John's confidence in his own
judgment rose with this animated praise, and he set off directly for the cottage to tell the Miss Dashwoods of the Miss
Steeles' arrival, and to assure them of their being the sweetest girls in the world. From such commendation as this,
however, there was not much to be learned; Elinor well knew that the sweetest girls in the world were to be met with in
every part of England, under every possible variation of form, face, temper and understanding. Sir John wanted the whole
family to walk to the Park directly and look at his guests. Benevolent, philanthropic man! It was painful to him even to
keep a third cousin to himself.
""",
    """
But Sir John could not prevail. He could only obtain a promise of their calling at the Park within a day or two, and
then left them in amazement at their indifference, to walk home and boast anew of their attractions to the Miss Steeles,
as he had been already boasting of the Miss Steeles to them. When their promised visit to the Park and consequent
introduction to these young ladies took place, they found in the appearance of the eldest, who was nearly thirty, with a
very plain and not a sensible face, nothing to admire; but in the other, who was not more than two or three and twenty,
they acknowledged considerable beauty; her features were pretty, and she had a sharp quick eye, and a smartness of air,
which though it did not give actual elegance or grace, gave distinction to her person. Their manners were particularly
civil, and Elinor soon allowed them credit for some kind of sense, when she saw with what constant and judicious
attention they were making themselves agreeable to Lady Middleton. With her children they were in continual raptures,
extolling their beauty, courting their notice, and humouring their whims. Fortunately for those who pay their court
through such foibles, a fond mother, though, in pursuit of praise for her children, the most rapacious of human beings,
is likewise the most credulous; her demands are exorbitant; but she will swallow any thing. She saw with maternal
complacency all the impertinent encroachments and mischievous tricks to which her cousins submitted. She saw their
sashes untied, their hair pulled about their ears, their work-bags searched, and their knives and scissors stolen away,
and felt no doubt of its being a reciprocal enjoyment. It suggested no other surprise than that Elinor and Marianne
should sit so composedly by, without claiming a share in what was passing. This specimen of the Miss Steeles was enough.
The vulgar freedom and folly of the eldest left her no recommendation, and as Elinor was not blinded by the beauty, or
the shrewd look of the youngest, to her want of real elegance and artlessness, she left the house without any wish of
knowing them better.
""",
)
_BRONTE = (
    """
October, November, December passed away. One afternoon in January, Mrs. Fairfax had begged a holiday for Adele, because
she had a cold; and, as Adele seconded the request with an ardour that reminded me how precious occasional holidays had
been to me in my own childhood, I accorded it, deeming that I did well in showing pliability on the point. It was a
fine, calm day, though very cold; I was tired of sitting still in the library through a whole long morning: Mrs. Fairfax
had just written a letter which was waiting to be posted, so I put on my bonnet and cloak and volunteered to carry it to
Hay; the distance, two miles, would be a pleasant winter afternoon walk. The ground was hard, the air was still, my road
was lonely; I walked fast till I got warm, and then I walked slowly to enjoy and analyse the species of pleasure
brooding for me in the hour and situation. It was three o'clock; the church bell tolled as I passed under the belfry:
the charm of the hour lay in its approaching dimness, in the low-gliding and pale-beaming sun. I was a mile from
Thornfield, in a lane noted for wild roses in summer, for nuts and blackberries in autumn, and even now possessing a few
coral treasures in hips and haws, but whose best winter delight lay in its utter solitude and leafless repose. If a
breath of air stirred, it made no sound here; for there was not a holly, not an evergreen to rustle, and the stripped
hawthorn and hazel bushes were as still as the white, worn stones which causewayed the middle of the path. Far and wide,
on each side, there were only fields, where no cattle now browsed; and the little brown birds, which stirred
occasionally in the hedge, looked like single russet leaves that had forgotten to drop. This lane inclined up-hill all
the way to Hay; having reached the middle, I sat down on a stile which led thence into a field. Gathering my mantle
about me, and sheltering my hands in my muff, I did not feel the cold, though it froze keenly; as was attested by a
sheet of ice covering the causeway, where a little brooklet, now congealed, had overflowed after a rapid thaw some days
since. From my seat I could look down on Thornfield: the grey and battlemented hall was the principal object in the vale
below me; its woods and dark rookery rose against the west. I lingered till the sun went down amongst the trees, and
sank crimson and clear behind them. I then turned eastward. On the hill-top above me sat the rising moon; pale yet as a
cloud, but brightening momentarily, she looked over Hay, which, half lost in trees, sent up a blue smoke from its few
chimneys: it was yet a mile distant, but in the absolute hush I could hear plainly its thin murmurs of life.
""",
    """
The din was on the causeway: a horse was coming; the windings of the lane yet hid it, but it approached. I was just
leaving the stile; yet, as the path was narrow, I sat still to let it go by. In those days I was young, and all sorts of
fancies bright and dark tenanted my mind: the memories of nursery stories were there amongst other rubbish; and when
they recurred, maturing youth added to them a vigour and vividness beyond what childhood could give. It was very near,
but not yet in sight; when, in addition to the tramp, tramp, I heard a rush under the hedge, and close down by the hazel
stems glided a great dog, whose black and white colour made him a distinct object against the trees. The man, the human
being, broke the spell at once. He passed, and I went on; a few steps, and I turned: a sliding sound and a clattering
tumble arrested my attention. Man and horse were down; they had slipped on the sheet of ice which glazed the causeway.
The dog came bounding back, and seeing his master in a predicament, and hearing the horse groan, barked till the evening
hills echoed the sound, which was deep in proportion to his magnitude. He snuffed round the prostrate group, and then he
ran up to me; it was all he could do, there was no other help at hand to summon. I obeyed him, and walked down to the
traveller, by this time struggling himself free of his steed. His efforts were so vigorous, I thought he could not be
much hurt; but I asked him the question. I was in the mood for being useful, or at least officious, I think, for I now
drew near him again. Something of daylight still lingered, and the moon was waxing bright: I could see him plainly. His
figure was enveloped in a riding cloak, fur collared and steel clasped; its details were not apparent, but I traced the
general points of middle height and considerable breadth of chest. I felt no fear of him, and but little shyness. I had
hardly ever seen a handsome youth; never in my life spoken to one.
""",
)
PASSAGES: tuple[str, ...] = tuple(" ".join(text.split()) for text in (*_AUSTEN, *_BRONTE))


def neutral_passages(path: Path | None) -> list[str]:
    """Return passages of neutral sentences: those of this module, or of the text file ``path``.

    An empty line of the file ends a passage. Raises ``UserError`` for a file without text, or not in UTF-8.
    """
    if path is None:
        return list(PASSAGES)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from None
    found = [" ".join(part.split()) for part in text.replace("\r\n", "\n").split("\n\n")]
    if not any(found):
        raise UserError(f"{path}: holds no sentence; write some, or set 'evaluation.likelihood.neutral' to null")
    return [part for part in found if part]
