"""Slots move under load: nothing is lost, duplicated or out of order."""

from .scenarios import reshard


def test_no_delivery_is_lost_or_counted_twice_while_slots_move_to_a_new_primary_and_back(section, tmp_path, size, seed):
    reshard.run(section, tmp_path, size, seed)
