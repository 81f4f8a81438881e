"""Sixty-six tasks and thirty questions in other words, in three languages: who finds what."""

from pathlib import Path

from bench.recall_probe import LANGUAGES, Probe
from remit.testing import World


async def test_the_hybrid_finds_what_is_meant_among_the_first_five(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        probe = await Probe.laid_out(world.house)
        scores = await probe.scores()

    asked = sum(scores.asked[each] for each in LANGUAGES)
    assert asked >= 30
    assert len(probe.tasks) >= 60
    found = {way: sum(scores.found[way][each] for each in LANGUAGES) for way in scores.found}
    # As of now 30, 29, 19 and 0 of 30; the floors leave room for a change of words, not of kind.
    assert found["hybrid"] >= 28
    assert found["embedded"] >= 26
    assert found["shared words"] >= 15
    assert found["hybrid"] >= found["embedded"] > found["shared words"] > found["full text"]
    for each in LANGUAGES:
        assert scores.found["hybrid"][each] >= 0.8 * scores.asked[each], each
    # Across languages the model is at a loss, and the few words that are alike help.
    assert scores.found["hybrid"]["cross"] > scores.found["embedded"]["cross"]
