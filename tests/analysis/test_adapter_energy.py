"""Energies of LoRA updates: against the full product, by block and module, and from a pack by hand."""

import numpy as np
import pytest

from favor.analysis.adapter_energy import adapter_energy, block_shares, product_energy, update_energies
from favor.foundation.errors import UserError

NAME = "base_model.model.model.layers.{}.{}.{}.lora_{}.weight"


def test_the_product_is_not_needed() -> None:
    generator = np.random.default_rng(1)
    left, right = generator.normal(size=(7, 3)), generator.normal(size=(3, 5))
    assert product_energy(left, right) == pytest.approx(np.linalg.norm(left @ right) ** 2)


def state(layer, up, q) -> dict[str, np.ndarray]:
    """Rank 1, one input, one output: the update of up_proj is ``up``, that of q_proj ``q``."""
    modules = (("mlp", "up_proj", up), ("self_attn", "q_proj", q))
    values = {NAME.format(layer, place, name, "A"): np.array([[value]], np.float32) for place, name, value in modules}
    return values | {NAME.format(layer, place, name, "B"): np.ones((1, 1), np.float32) for place, name, _ in modules}


def test_personal_and_residual_energy_by_hand() -> None:
    # A: endpoint 3, residual -1, so 2; B: endpoint 1, residual 0.5, so 1.5. Personal 3, endpoint 3: residual update 0.
    endpoint = state(0, up=3.0, q=1.0)
    residual = {key: np.zeros((1, 1), np.float32) for key in endpoint}
    residual[NAME.format(0, "mlp", "up_proj", "A")][:] = -1.0
    residual[NAME.format(0, "mlp", "up_proj", "B")][:] = 0.5
    residual[NAME.format(0, "self_attn", "q_proj", "A")][:] = 4.0
    found = update_energies({"endpoint": endpoint, "residual": residual})
    assert found["personal"] == {(0, "up_proj"): pytest.approx(9.0), (0, "q_proj"): pytest.approx(25.0)}
    assert found["residual"] == {(0, "up_proj"): pytest.approx(0.0, abs=1e-9), (0, "q_proj"): pytest.approx(16.0)}


def test_what_is_not_there_has_no_energy() -> None:
    assert set(update_energies({"adapter": state(0, 1.0, 1.0)})) == {"personal"}  # no endpoint
    with pytest.raises(UserError, match="names a numbered layer"):
        update_energies({"adapter": {"embed.lora_A.weight": np.ones((1, 1), np.float32)}})
    # Rows sum to one, and empty blocks are left out.
    energies = {(0, "q"): 1.0, (5, "v"): 3.0, (6, "q"): 0.0, (6, "v"): 0.0}
    assert block_shares(energies, 6) == {(0, "q"): 0.25, (0, "v"): 0.75}
    assert adapter_energy([]).empty


@pytest.mark.parametrize(
    ("layers", "blocks"), [(4, [(0, 0), (1, 1), (2, 2), (3, 3)]), (14, [(0, 5), (6, 11), (12, 13)])]
)
def test_blocks_of_six_layers_or_single_ones(layers, blocks) -> None:
    def adapter(up) -> dict[str, np.ndarray]:
        return {key: value for layer in range(layers) for key, value in state(layer, up, 1.0).items()}

    # Shares of up_proj: 4 / 5 and 1 / 2.
    table = adapter_energy([{"a": {"adapter": adapter(2.0)}}, {"b": {"adapter": adapter(1.0)}}])
    assert sorted(set(zip(table["first_layer"], table["last_layer"], strict=True))) == blocks
    assert (table["adapters"] == 2).all()
    assert table.loc[table["module"] == "up_proj", "share"].to_numpy() == pytest.approx([0.65] * len(blocks))
    assert table.groupby("first_layer")["share"].sum().to_numpy() == pytest.approx([1.0] * len(blocks))
