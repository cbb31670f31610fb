"""Primaries die under load, and their replicas take over."""

from .scenarios import killing


def test_what_replicas_confirmed_survives_the_death_of_primaries(section, tmp_path, size, seed):
    killing.kill(section, tmp_path, size, seed, replicated=True)


def test_without_replicas_word_a_dead_primary_loses_only_what_it_had_not_sent_and_nothing_is_doubled(section, tmp_path, size, seed):
    killing.kill(section, tmp_path, size, seed, replicated=False)
