"""What every section of the configuration is made of: strict, closed models whose keys carry their own description."""

import datetime
import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Annotated, Any, NoReturn, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, GetCoreSchemaHandler, StringConstraints
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from favor.foundation.errors import UserError
from favor.foundation.names import nearest

Kind = TypeVar("Kind", bound="Section")


class Section(BaseModel):
    """One mapping of the configuration.

    Its attributes are the keys. Unknown keys and values of another type are refused: a text is not a number, and
    true is not 1. A section never changes once :func:`favor.config.resolve.resolve` has completed it.
    """

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        protected_namespaces=(),
        ser_json_inf_nan="null",
        defer_build=True,  # a job reads few of the hundred sections
    )

    def extended(self, kind: type[Kind], **values: Any) -> Kind:
        """Return these keys and ``values`` as another section."""
        return kind.model_validate({**self.__dict__, **values})

    def __iter__(self) -> NoReturn:
        """Refuse to list keys and values: code that reads a key names it."""
        raise TypeError(f"{type(self).__name__}: name the keys to read")


class _OrNull:
    """A key that a file may leave null and that ``resolve`` fills in, so that its readers never see null."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.nullable_schema(handler(source))


class _AsWritten:
    """A number that stays the integer or the float that the file has: 32 is not printed as 32.0."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        def checked(value: Any, check: Callable[[Any], Any]) -> Any:
            check(value)
            return value

        kept = core_schema.plain_serializer_function_ser_schema(lambda value: value)
        return core_schema.no_info_wrap_validator_function(checked, handler(source), serialization=kept)


def _distinct(items: list[Any]) -> list[Any]:
    if len(set(items)) < len(items):
        raise PydanticCustomError("distinct", "names something twice")
    return items


def _filled(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank", "is blank; fill it in, or leave the key out")
    if not is_shown(text):
        raise PydanticCustomError("unseen", "holds a character that cannot be seen; type it again")
    return text


def is_shown(text: str) -> bool:
    """Whether a name holds no control character and nothing invisible, but for line ends and what joins letters."""
    return not any(unicodedata.category(sign) in ("Cc", "Cf") for sign in text if sign not in "\t\n\r\u200c\u200d")


def _day(text: str) -> str:
    try:
        return datetime.date.fromisoformat(text).isoformat()
    except ValueError:
        raise PydanticCustomError("day", "is not a day; write 'YYYY-MM-DD'") from None


def _licence(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9.+-]+", text):
        raise PydanticCustomError("licence", "is not an SPDX identifier; write one such as MIT or CC-BY-4.0")
    return text


OWN_CHECKS = ("distinct", "day", "licence", "blank", "unseen")  # their errors say what is wrong
NAME = "^[a-z][a-z0-9_]{0,63}$"
OR_NULL = _OrNull()
DISTINCT = AfterValidator(_distinct)
Name = Annotated[str, StringConstraints(pattern=NAME)]
Day = Annotated[str, AfterValidator(_day)]
Licence = Annotated[str, AfterValidator(_licence)]
Filled = Annotated[str, AfterValidator(_filled)]
Number = Annotated[float, _AsWritten()]
Positive = Annotated[float, Field(gt=0), _AsWritten()]
NotNegative = Annotated[float, Field(ge=0), _AsWritten()]
Share = Annotated[float, Field(ge=0, le=1), _AsWritten()]
Similarity = Annotated[float, Field(gt=0, le=1), _AsWritten()]
LearningRate = Annotated[float, Field(gt=0, le=1), _AsWritten()]  # a step of AdamW moves a weight by about this
Dropout = Annotated[float, Field(ge=0, lt=1), _AsWritten()]
Count = Annotated[int, Field(ge=1)]
Natural = Annotated[int, Field(ge=0)]
Seed = Annotated[int, Field(ge=0, le=2**31 - 1)]  # a column of 32 bits holds it


def required(description: str, **bounds: Any) -> Any:
    """Return the field of a key that every configuration must give."""
    return Field(description=description, **bounds)


def key(default: Any, description: str, **bounds: Any) -> Any:
    """Return the field of a key with its default, its meaning and pydantic's bounds (``ge``, ``min_length``...)."""
    return Field(default, description=description, **bounds)


def section(kind: type[Section], description: str) -> Any:
    """Return the field of a nested section, whose own defaults hold where it is left out."""
    return Field(default_factory=kind, description=description, json_schema_extra={"default": {}})


def set_keys(target: Section, **values: Any) -> None:
    """Set keys that the file left to be completed. Only for ``resolve``: sections are frozen for everyone else."""
    for name, value in values.items():
        object.__setattr__(target, name, value)


def refuse(where: str, problem: str) -> NoReturn:
    """Raise ``UserError`` about the key at ``where``."""
    raise UserError(one_line(f"config key '{where}': {problem}"))


def one_line(text: str) -> str:
    """Return ``text`` with line breaks and control characters, which a key may have too, as escapes."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def check_known(names: str | Iterable[str] | None, valid: Iterable[str], where: str, kind: str = "") -> None:
    """Raise ``UserError`` unless ``names``, one or several or null, are ``valid`` ones, with the nearest of them."""
    valid = list(valid)
    for name in [names] if isinstance(names, str) else names or ():
        if name not in valid:
            refuse(where, f"there is no {kind and f'{kind} '}'{name}'; {nearest(name, valid)}")
