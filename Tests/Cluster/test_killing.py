"""Primaries are killed under load, and their replicas take over."""

from .scenarios import killing


def test_confirmed_deliveries_survive_the_loss_of_primaries(section, tmp_path, size, seed):
    killing.kill(section, tmp_path, size, seed, replicated=True)


def test_without_confirmation_a_dead_primary_loses_only_unreplicated_deliveries_and_duplicates_none(section, tmp_path, size, seed):
    killing.kill(section, tmp_path, size, seed, replicated=False)
