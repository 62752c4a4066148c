"""The words of the demo corpus: what posts are about, in American spelling and without contractions.

Subjects are shared by all authors; style lies in :mod:`favor.demo.habits` alone.
"""

from dataclasses import dataclass


def _words(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


@dataclass(frozen=True)
class Subject:
    """What a post can be about: nouns, past-tense deeds (``{thing}`` stands for a noun), adjectives, places, people."""

    things: tuple[str, ...]
    deeds: tuple[str, ...]
    qualities: tuple[str, ...]
    places: tuple[str, ...]
    people: tuple[str, ...]


SUBJECTS = {
    "computers": Subject(
        _words(
            "computer, keyboard, printer, server, program, browser, password, network, screen, mouse, laptop, "
            "update, website, hard drive, cable, backup, database, email, monitor, router, error message, "
            "spreadsheet, battery, scanner, old modem, software, forum, code, manual, desk"
        ),
        _words(
            "installed the {thing}, rebooted the {thing}, crashed the {thing}, patched the {thing}, unplugged the "
            "{thing}, wrote a script for the {thing}, typed the wrong password, deleted the {thing} by mistake, "
            "upgraded the {thing}, traced the bug to the {thing}, swapped the {thing}, read the manual of the "
            "{thing}"
        ),
        _words("slow, broken, modern, noisy, secure, complicated, clever, outdated, reliable, blank, wireless, buggy"),
        _words("the office, the server room, the help desk, the computer shop, the lab, my cubicle"),
        _words("the technician, a programmer, our manager, the new intern, the man on the phone, my colleague"),
    ),
    "arts": Subject(
        _words(
            "song, album, guitar, painting, movie, stage, poem, camera, piano, gallery, script, drum, novel, "
            "sketch, violin, chorus, scene, costume, brush, concert, ticket, record, actor, melody, exhibition, "
            "photograph, theater, chapter, curtain, rehearsal"
        ),
        _words(
            "painted the {thing}, practiced the {thing}, recorded the {thing}, listened to the {thing} all night, "
            "rewrote the {thing}, hummed the tune, photographed the {thing}, sang along to the {thing}, tuned the "
            "{thing}, reviewed the {thing}, forgot every line, drew the {thing} from memory"
        ),
        _words("beautiful, loud, moving, gray, abstract, melodic, dull, original, gloomy, colorful, gentle, famous"),
        _words("the theater, the gallery, the studio, the record store, the cinema, the concert hall"),
        _words("the director, a singer, our drummer, the painter, the audience, my favorite actor"),
    ),
    "school": Subject(
        _words(
            "essay, exam, lecture, textbook, locker, assignment, library card, lesson, notebook, grade, quiz, "
            "project, schedule, calculator, classroom, report, deadline, pencil, chemistry set, bus pass, "
            "diploma, map, seminar, homework, backpack, timetable, lab coat, presentation, thesis, dormitory"
        ),
        _words(
            "studied for the {thing}, failed the {thing}, finished the {thing}, slept through the {thing}, handed "
            "in the {thing}, copied the notes, memorized the {thing}, lost the {thing} again, crammed all night, "
            "passed the {thing}, asked about the {thing}, dropped the class"
        ),
        _words(
            "difficult, boring, easy, endless, confusing, practical, strict, useful, pointless, academic, late, short"
        ),
        _words("the library, the campus, the cafeteria, the classroom, the gym hall, the dormitory"),
        _words("the professor, my teacher, the principal, a classmate, my roommate, the librarian"),
    ),
    "sport": Subject(
        _words(
            "game, match, ball, team, season, coach, goal, race, stadium, bike, helmet, trophy, whistle, tackle, "
            "score, referee, league, field, uniform, pitch, net, warmup, final, marathon, injury, glove, "
            "training, paddle, scoreboard, halftime"
        ),
        _words(
            "won the {thing}, watched the {thing}, kicked the ball over the {thing}, missed the {thing}, trained "
            "for the {thing}, cheered at the {thing}, ran around the field, twisted my ankle, argued about the "
            "{thing}, lost the {thing} by two points, cycled to the {thing}, scored before the {thing}"
        ),
        _words("fast, exhausting, brilliant, unfair, muddy, defensive, tense, strong, lucky, competitive, sore, fit"),
        _words("the stadium, the park, the gym, the pool, the field, the locker room"),
        _words("the coach, our goalkeeper, the referee, my teammate, the captain, the other team"),
    ),
    "travel": Subject(
        _words(
            "train, suitcase, ticket, hotel, airport, map, bridge, beach, passport, road, museum, castle, flight, "
            "bus, harbor, mountain, camera, guidebook, tent, ferry, lighthouse, border, village, cathedral, "
            "sunset, island, taxi, souvenir, valley, trail"
        ),
        _words(
            "packed the {thing}, missed the {thing}, booked the {thing}, drove past the {thing}, climbed up to "
            "the {thing}, photographed the {thing}, got lost near the {thing}, waited for the {thing}, traveled "
            "by night, slept on the {thing}, crossed the {thing}, paid too much for the {thing}"
        ),
        _words("foreign, remote, crowded, sunny, cheap, ancient, scenic, delayed, expensive, quiet, narrow, distant"),
        _words("the station, the airport, the coast, the old town, the border, the hotel"),
        _words("the driver, a tourist, the guide, the landlady, an old fisherman, the pilot"),
    ),
    "food": Subject(
        _words(
            "soup, coffee, sandwich, cake, kitchen, oven, bread, cheese, recipe, salad, pizza, tea, pan, spoon, "
            "dinner, breakfast, sauce, apple pie, menu, fridge, garlic, rice, burger, cookie, chicken, pepper, "
            "plate, lunch, noodle, jam"
        ),
        _words(
            "cooked the {thing}, burned the {thing}, tasted the {thing}, baked the {thing}, ordered the {thing}, "
            "ate the {thing} cold, spilled the {thing}, shared the {thing}, washed the dishes, served the "
            "{thing}, chopped the onions, skipped the {thing}"
        ),
        _words("delicious, salty, sweet, greasy, fresh, spicy, bitter, cold, healthy, crispy, sour, burnt"),
        _words("the kitchen, the diner, the bakery, the market, the restaurant, the corner shop"),
        _words("the cook, a waiter, my grandmother, the baker, our hostess, the man at the counter"),
    ),
    "home": Subject(
        _words(
            "cat, dog, couch, window, garden, roof, letter, phone, bathroom, mirror, lamp, neighbor, washing "
            "machine, bed, carpet, fence, car, basement, clock, blanket, bill, key, radiator, mailbox, shelf, "
            "plant, party, television, closet, door"
        ),
        _words(
            "cleaned the {thing}, painted the {thing}, fed the {thing}, repaired the {thing}, moved the {thing}, "
            "watched the {thing}, fell asleep on the couch, locked the {thing}, tripped over the {thing}, called "
            "about the {thing}, threw out the {thing}, organized the {thing}"
        ),
        _words("cozy, dirty, messy, warm, empty, dark, new, tiny, comfortable, dusty, leaky, peaceful"),
        _words("the living room, the yard, the basement, the porch, the garage, the upstairs hall"),
        _words("my mother, my brother, the neighbor, my aunt, the plumber, my little sister"),
    ),
    "feelings": Subject(
        _words(
            "dream, secret, promise, argument, memory, mood, birthday, wedding, friendship, mistake, decision, "
            "rumor, crush, apology, headache, diary, plan, surprise, joke, weekend, date, conversation, fear, "
            "habit, wish, childhood, storm, moon, rain, silence"
        ),
        _words(
            "cried about the {thing}, laughed at the {thing}, forgot the {thing}, apologized for the {thing}, "
            "told everyone about the {thing}, realized the truth, kept the {thing} to myself, worried about the "
            "{thing}, wrote about the {thing}, regretted the {thing}, waited for a call, remembered the {thing}"
        ),
        _words("lonely, happy, jealous, honest, weird, nervous, sad, grateful, angry, hopeful, silly, tired"),
        _words("the party, the bridge, the coffee house, my room, the bus stop, the old playground"),
        _words("my best friend, her boyfriend, my ex, an old friend, somebody, his cousin"),
    ),
}

# Metadata topic (the corpus' industry column) -> the subject its authors favor; the unknown topic favors none.
TOPICS = {
    "Technology": "computers",
    "Arts": "arts",
    "Student": "school",
    "Sports-Recreation": "sport",
    "Tourism": "travel",
}
EVERYDAY = ("food", "home", "feelings")

GENERAL_DEEDS = _words(
    "talked about the {thing}, complained about the {thing}, looked for the {thing}, bought a new "
    "{thing}, found the {thing}, broke the {thing}, dreamed about the {thing}, saw the {thing}, lost the "
    "{thing}, borrowed the {thing}, ignored the {thing}, sold the {thing}, showed me the {thing}, hated "
    "the {thing}, loved the {thing}, needed the {thing}, tried the {thing}, brought the {thing}, stared "
    "at the {thing}, gave up on the {thing}"
)
GENERAL_QUALITIES = _words(
    "good, bad, great, nice, awful, strange, funny, perfect, terrible, interesting, stupid, amazing, "
    "fine, horrible, pretty, big, small, old, different, special, normal, wonderful, odd, lovely, "
    "ridiculous, cool, hard, simple"
)
GENERAL_PEOPLE = _words(
    "Anna, Mike, Jen, Dave, Sarah, Tom, Lucy, Kevin, Maria, Chris, Becky, Sam, he, she, everyone, somebody, we, they"
)
TIMES = _words(
    "today, yesterday, last night, this morning, on Monday, on Tuesday, on Friday, on Sunday, last week, "
    "tonight, after work, after lunch, this weekend, two days ago, all day long, around noon, at "
    "midnight, before breakfast, last summer, in the evening, the other day, on Thursday, every single "
    "day, in the end"
)
NUMBERS = _words("two, three, four, five, six, seven, eight, nine, ten, twelve")
UNITS = _words("hours, days, weeks, minutes, years, months")

# Slots: {person} {someone} {deed} {thing} {other} {quality} {place} {time} {number} {unit}; {very}: an intensifier.
CLAUSES = (
    "I {deed}",
    "I {deed} {time}",
    "{person} {deed}",
    "{person} {deed} at {place}",
    "the {thing} was {very} {quality}",
    "the {thing} is {quality}",
    "I think the {thing} is {very} {quality}",
    "I do not like the {thing}",
    "I cannot stand the {quality} {thing}",
    "there was a {quality} {thing} at {place}",
    "we went to {place} {time}",
    "I have been thinking about the {thing} {time}",
    "it took {number} {unit} to find the {thing}",
    "I am {very} tired of the {thing}",
    "I did not know that {person} {deed}",
    "I would not trade the {thing} for a {quality} {other}",
    "{person} said the {thing} was {quality}",
    "{person} told me that {person} {deed}",
    "I will not go back to {place} without the {thing}",
    "it was the most {quality} {thing} in {number} {unit}",
    "I could not find the {thing} or the {other}",
    "you should not buy a {thing} {time}",
    "I wish the {thing} were more {quality}",
    "that is why I {deed}",
    "it is not {quality} at all",
    "I really want a {quality} {thing}",
    "I was at {place} for {number} {unit}",
    "{person} and I {deed}",
    "the {thing} and the {other} are {very} {quality}",
    "nobody at {place} knew where the {thing} was",
    "I have never seen such a {quality} {thing}",
    "I am going to {place} because of the {thing}",
    "I had to wait {number} {unit} for the {thing}",
    "she does not care about the {thing}",
    "they are always talking about the {quality} {other}",
    "I guess the {thing} will be {quality} {time}",
    "{person} never {deed}",
    "{time} {person} {deed}",
    "{person} {deed} and I {deed}",
    "my {thing} is {very} {quality} now",
    "I need a {quality} {thing} for {place}",
    "I read about the {thing} for {number} {unit}",
    "I spent {number} {unit} at {place}",
    "I met {someone} at {place} {time}",
    "I hope the {thing} is not {quality}",
    "the {quality} {thing} is still at {place}",
    "I should have left the {thing} at {place}",
    "we have not seen the {thing} for {number} {unit}",
    "it feels {very} {quality} without the {thing}",
    "this {thing} makes me {quality}",
    "everything about the {thing} seems {quality}",
    "I keep thinking that {person} {deed}",
    "I was so glad when {person} {deed}",
    "there is a {thing} behind the {other}",
    "no {thing} is as {quality} as the {other}",
    "I will try the {other} {time}",
    "the best part was the {quality} {thing}",
    "he does not understand the {thing}",
    "I just cannot get used to the {other}",
    "I remember the {quality} {thing} from {place}",
)
QUESTIONS = (
    "why is the {thing} so {quality}",
    "does anyone know where the {thing} is",
    "what is the point of a {quality} {thing}",
    "have you ever seen a {thing} at {place}",
    "who needs a {thing} anyway",
    "should I keep the {thing} or the {other}",
    "is it just me or is the {thing} {very} {quality}",
)
