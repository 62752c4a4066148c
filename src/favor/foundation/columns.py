"""Columns that tables of several stages share."""

from favor.foundation.tables import INT32, INT64, STRING, VECTOR, Column

AUTHOR = Column("author", STRING, "", "author identifier of the corpus; internal, never published")
CLIENT = Column("client", STRING, "", "anonymous client name, client_001 onwards")
DOCUMENT = Column("document_id", STRING, "", "document identifier, unique in the corpus")
DATE = Column("date", STRING, "", "day of the post, as 2004-05-12; empty where none can be read")
TOPIC = Column("topic", STRING, "", "metadata topic of the author (indUnk: unknown)")
SPLIT = Column(
    "split", STRING, "", "train, validation or test; reference, for a few-shot client's evaluation prototypes"
)
SEED = Column("seed", INT32, "", "training seed")
METHOD = Column("method", STRING, "", "method key of the configuration")
PROMPT_ID = Column("prompt_id", STRING, "", "prompt identifier, unique in the experiment")
SAMPLE = Column("sample", INT32, "", "number of the continuation among those of one prompt, from 0; greedily 0 alone")
ROUND = Column("round", INT32, "", "communication round, from 0")
EMBEDDING = Column("embedding", VECTOR, "", "embedding of the text")
WRITING_PROMPT = Column("prompt", STRING, "", "writing prompt the text answers; empty where the corpus has none")
TEXT = Column("text", STRING, "", "text")
BYTES = Column("bytes", INT64, "bytes", "size of this one client's part, as an adapter file of its own")
WORDS = Column("words", INT32, "words", "word units of the text (corpus word expression)")
