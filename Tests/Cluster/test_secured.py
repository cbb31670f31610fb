"""Services on a cluster with TLS, certificates on both sides, and an ACL user for services that is not that of the nodes."""

import random

from SystemTests.faults.load import Maker
from SystemTests.support.authority import Authority

from .loaded_run import Progress, Size, make_system, play
from .redis_cluster import RedisCluster
from .redis_node import Settings, TLSFiles


def test_services_use_a_cluster_over_tls_as_an_acl_user_and_log_no_password(tmp_path, seed):
    dice = random.Random(seed)
    maker, authority = Maker(dice), Authority(tmp_path, "authority")
    certificate, key = authority.issue("redis", "DNS:localhost,IP:127.0.0.1")
    cluster = RedisCluster(tmp_path / "cluster", settings=Settings(
        password="secret-of-the-tests", tls=TLSFiles(authority.certificate, certificate, key)))
    with make_system(tmp_path / "system", maker, cluster) as system:
        def kill_one(progress: Progress) -> None:
            progress.wait_for_load(0.3)
            victim = cluster.primaries()[0]
            cluster.kill(victim)
            cluster.start_again(victim)

        result = play(system, maker, dice, Size(1_000), kill_one, others=False, losing=True)
        logs = "".join(service.log() for service in system.services)
    assert result.acknowledged >= 1_000
    assert "secret-of-the-tests" not in logs
