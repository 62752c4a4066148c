"""``favor site score``: how near what a site's adapter writes comes to its author, without a text of anybody else."""

import argparse

from favor.foundation.errors import UserError
from favor.foundation.files import read_json
from favor.lm.base import open_base
from favor.lm.peft_import import CONFIGURATION, check_shapes, import_peft
from favor.sites.site import Site
from favor.voice.command import style_encoder
from favor.voice.contrast import contrast_of
from favor.voice.folder import BASE, OWN, VoiceModels
from favor.voice.memorised import continuations
from favor.voice.report import scores
from favor.voice.words import summary


def score(arguments: argparse.Namespace) -> None:
    """Print where continuations of the site's held-out texts lie: the base model's, and what the site generates.

    Floor and prototypes are public contrast authors', in the place of the other clients' (:func:`favor.voice.score
    .score_voice`); the ceiling is the site's own other texts. Raises ``UserError`` for no adapter in PEFT's format, or
    one of another base.
    """
    site = Site(arguments.site)
    states, lora = import_peft([arguments.adapter])
    named = read_json(arguments.adapter / CONFIGURATION).get("base_model_name_or_path")
    if named != site.model.source:
        raise UserError(
            f"{arguments.adapter}: an adapter of '{named}', and the site's base is '{site.model.source}'; give what "
            "'favor site export' wrote"
        )
    base = open_base(site.model, lora)
    check_shapes(states, base.model, lora)
    models = VoiceModels(base, lora, {BASE: None, OWN: states[arguments.adapter.name]})
    contrast = contrast_of(arguments.contrast)
    made = continuations(models, site.texts, site.seed)
    found = scores(made, site.texts, contrast.authors, style_encoder(arguments.encoder))
    for model, near in found.items():
        print(f"{model}: {near if isinstance(near, str) else summary(near)}")
    print(f"floor: {'. '.join(filter(None, contrast[1:]))}")
