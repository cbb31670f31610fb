"""Slots move under load: nothing is lost, duplicated or out of order."""

from .scenarios import reshard


def test_slots_move_to_a_new_primary_and_back_under_load(section, tmp_path, size, seed):
    reshard.run(section, tmp_path, size, seed)
