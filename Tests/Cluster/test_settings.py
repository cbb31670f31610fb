"""Settings of the nodes that are checked when a service starts."""

from SystemTests.support.bare_service import BareService

from .redis_cluster import RedisCluster
from .redis_node import Settings


def test_primaries_that_accept_writes_without_replicas_are_refused_at_replicated_durability(tmp_path):
    with RedisCluster(tmp_path / "cluster") as cluster:
        for node in cluster.nodes[1:]:
            node.client.config_set("min-replicas-to-write", 1)
        variables = {"ATTRIBUTION_REDIS_URL": cluster.url, **cluster.variables}
        with BareService(tmp_path, "verifier", "queues: { durability: replicated }", **variables) as service:
            assert service.process.wait(40) != 0
        assert f"{cluster.nodes[0].address}: min-replicas-to-write is 0 and must be at least queues.replicas, 1" in service.log()
        assert service.log().count("min-replicas-to-write is 0") == 1
        cluster.nodes[0].client.config_set("min-replicas-to-write", 1)
        with BareService(tmp_path / "again", "verifier", "queues: { durability: replicated }", **variables) as service:
            service.wait_for("/readyz", 200)


def test_a_service_does_not_start_with_a_node_that_evicts_keys_and_names_the_node(tmp_path):
    with RedisCluster(tmp_path / "cluster", primaries=3, replicas=0, settings=Settings()) as cluster:
        cluster.nodes[2].client.config_set("maxmemory-policy", "allkeys-lru")
        with BareService(tmp_path, "verifier", ATTRIBUTION_REDIS_URL=cluster.url) as service:
            assert service.process.wait(40) != 0
        assert f"{cluster.nodes[2].address}: maxmemory-policy is allkeys-lru" in service.log()
