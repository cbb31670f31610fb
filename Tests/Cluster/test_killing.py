"""Primaries are killed under load, and their replicas take over."""

from .scenarios import killing


def test_confirmed_deliveries_survive_the_loss_of_primaries(section, tmp_path, size, seed):
    killing.kill(section, tmp_path, size, seed, replicated=True)


def test_without_confirmation_a_killed_primary_loses_only_unreplicated_deliveries_and_none_is_counted_twice(section, tmp_path, size, seed):
    killing.kill(section, tmp_path, size, seed, replicated=False)
