"""The cohorts are a pure function of (seed, sampling), and coverage comes first where it is asked for."""

import pytest

from favor.federation.schedule import batches, client_names, cohorts, last_participation, schedule_frame


def test_client_names_sort_as_they_count() -> None:
    assert client_names(3) == ["client_001", "client_002", "client_003"]
    assert client_names(1000)[0] == "client_0001"
    assert sorted(client_names(1000)) == client_names(1000)
    assert client_names(2, 40) == ["client_041", "client_042"]


@pytest.mark.parametrize("seed", [2026, 2027, 2028])
def test_six_rounds_of_twelve_cover_all_fifty_clients(seed) -> None:
    # 6 x 12 = 72 places: 50 first participations and 22 second ones, mean 72 / 50 = 1.44 (the paper's p-bar).
    clients = client_names(50)
    rounds = cohorts(seed, clients, 6, 12)
    counts = {client: sum(client in cohort for cohort in rounds) for client in clients}
    assert min(counts.values()) == 1
    assert sum(counts.values()) / 50 == 1.44
    # Rounds 0 to 3 hold 48 different clients; the last two unseen ones come in round 4.
    assert len({client for cohort in rounds[:4] for client in cohort}) == 48
    assert set(clients) - {c for cohort in rounds[:4] for c in cohort} <= set(rounds[4])


def test_a_cohort_has_no_client_twice_and_is_in_name_order() -> None:
    for cohort in cohorts(1, client_names(9), 20, 4, "uniform"):
        assert len(set(cohort)) == 4
        assert cohort == sorted(cohort)


def test_uniform_sampling_replays_each_round_alone() -> None:
    clients = client_names(20)
    assert cohorts(5, clients, 6, 5, "uniform")[:3] == cohorts(5, clients, 3, 5, "uniform")
    assert cohorts(5, clients, 6, 5, "uniform") != cohorts(6, clients, 6, 5, "uniform")


def test_uniform_sampling_is_uniform() -> None:
    clients = client_names(10)
    counts = dict.fromkeys(clients, 0)
    for seed in range(300):
        for client in cohorts(seed, clients, 1, 3, "uniform")[0]:
            counts[client] += 1
    # 300 draws of 3 in 10: mean 90, standard deviation sqrt(300 * .3 * .7) = 7.9; five of them either way.
    assert all(50 < count < 130 for count in counts.values())


def test_last_participation_batches_and_frame() -> None:
    rounds = [["a", "b"], ["b", "c"]]
    assert last_participation(rounds) == {"a": 0, "b": 1, "c": 1}
    assert batches(["a", "b", "c"], 2) == [["a", "b"], ["c"]]
    frame = schedule_frame(rounds)
    assert frame.values.tolist() == [[0, 0, "a"], [0, 1, "b"], [1, 0, "b"], [1, 1, "c"]]
