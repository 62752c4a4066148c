"""Phrases that mark the register of a writing assistant; any spacing, capitals and kind of apostrophe."""

PHRASES: tuple[str, ...] = (
    "as an ai", "as a language model", "i'm just an ai", "i cannot assist", "i can't assist", "i'm here to help",
    "i hope this helps", "let me know if", "feel free to", "happy to help", "here is a", "here are some", "here's a",
    "certainly!", "of course!", "great question", "sure thing", "in conclusion", "in summary", "to summarize",
    "to sum up", "overall,", "ultimately,", "furthermore,", "moreover,", "additionally,", "consequently,",
    "it is important to", "it's important to", "it is essential to", "it's essential to", "it is worth noting",
    "it's worth noting", "keep in mind that", "when it comes to", "there are several", "factors to consider",
    "on the other hand", "not only", "plays a crucial role", "plays a vital role", "a wide range of", "a variety of",
    "a testament to", "delve into", "rich tapestry", "sense of community", "sense of connection", "valuable insights",
    "valuable opportunity", "deeper understanding", "deeper appreciation", "open mind", "navigate the", "embrace the",
    "foster a sense", "fosters a sense", "unique perspective", "journey of", "in today's world", "dear user",
    "step by step", "please note that", "i understand your", "thank you for sharing", "further questions",
)  # fmt: skip
