"""The memory that Redis needs to deduplicate a postback: its natural key, digests of its last copies, and a digest of its unsigned
values."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from Benchmarks.bench import Redis, Report
from Benchmarks.native.programs import Native

UNSYNCED = ("--appendonly", "no")
SHARDS, BUCKETS = 256, 256
DAY = 86_400
NATURAL, COPY = 10 * DAY, 6 * 3600
# The number of buckets for copies if natural keys have 256 buckets, as in QueueConfiguration.
COPY_BUCKETS = 13
# The generations whose copies Redis has: the age of each, and the part of its six hours that has passed. Redis deletes a bucket an hour
# after its two generations, so there are copies of three generations during this hour.
COPIES = ((0, 1 / 6), (1, 1.0), (2, 1.0))

# Adds a random number of members to a bucket of each shard, with the key names and the format that ingest and verifier use.
FILL = """math.randomseed(tonumber(ARGV[6]))
local mean = tonumber(ARGV[4])
local function chance()
  if mean > 50 then
    local normal = math.sqrt(-2 * math.log(1 - math.random())) * math.cos(2 * math.pi * math.random())
    return math.max(0, math.floor(mean + math.sqrt(mean) * normal + 0.5))
  end
  local count, product = -1, 1
  repeat count, product = count + 1, product * math.random() until product < math.exp(-mean)
  return count
end
local added = 0
for shard = 0, 255 do
  local members = {}
  for index = 1, chance() do
    if ARGV[5] == '32' then
      members[index] = string.format('%s%d', math.random() < 0.5 and '-' or '', math.random(0, 2147483646))
    else
      members[index] = string.format('%s%d%09d', math.random() < 0.5 and '-' or '', math.random(100, 922337202), math.random(0, 999999999))
    end
  end
  if #members > 0 then
    local key = string.format('{attr:%03d}:seen:%s:%d:%d', shard, ARGV[1], ARGV[2], ARGV[3])
    added = added + redis.call('SADD', key, unpack(members))
    redis.call('EXPIRE', key, ARGV[7], 'NX')
  end
end
return added"""

QUERY = """for index = 1, 100000 do redis.call('SISMEMBER', KEYS[1], '4611686018427387904') end"""
INSERT = """for index = 1, 100000 do redis.call('SADD', '{attr:000}:x' .. index % 400, index * 20011) end"""


def memory(redis: Redis) -> int:
    """The bytes of the stored data, after Redis has extended its hash tables."""
    last = 0
    while True:
        found = dict(re.findall(r"(\w+):(\d+)", redis.cli("INFO", "memory")))
        now = int(found["used_memory"]) - int(found["mem_clients_normal"]) - int(found["mem_aof_buffer"])
        if abs(now - last) < 4096:
            return now
        last = now
        time.sleep(1)


def fill(redis: Redis, store: str, count: float, *, length: int, ago: int = 0, buckets: int = BUCKETS, bits: int = 64) -> int:
    """Adds about this number of members of a generation; returns their number."""
    generation = int(time.time()) // length - ago
    return sum(int(redis.cli("EVAL", FILL, "0", store, str(generation), str(bucket), str(count / SHARDS / buckets), str(bits),
                             str(1 + bucket + 1000 * ago), str(2 * length + 3600))) for bucket in range(buckets))


def copies(redis: Redis, postbacks: float, buckets: int) -> None:
    """Adds the digests of copies that are stored at a rate of this number of postbacks in ten days."""
    for ago, share in COPIES:
        fill(redis, "c", postbacks * share * COPY / NATURAL, length=COPY, ago=ago, buckets=buckets)


def steady(postbacks: float, *, buckets: int = BUCKETS, age: float = 0, digests: bool = False) -> dict[str, float]:
    """The bytes for each postback at a steady rate of this number in ten days: a whole generation of natural keys and a part of the next
    one."""
    with Redis(None, *UNSYNCED) as redis:
        empty = memory(redis)
        naturals = fill(redis, "d", postbacks, length=NATURAL, ago=1, buckets=buckets)
        if age:
            naturals += fill(redis, "d", postbacks * age, length=NATURAL, buckets=buckets)
        found = {"postbacks": naturals, "natural": (memory(redis) - empty) / naturals}
        copies(redis, postbacks, max(1, -(-COPY_BUCKETS * buckets // BUCKETS)))
        found["all"] = (memory(redis) - empty) / naturals
        if digests:
            before = memory(redis)
            fill(redis, "u", postbacks, length=NATURAL, ago=1, buckets=buckets, bits=32)
            found["digest"] = (memory(redis) - before) / naturals
    return found


def with_long_lived_copies(postbacks: float) -> float:
    """The bytes for each postback if the digest of its bytes is stored as long as its natural key, in the same buckets."""
    with Redis(None, *UNSYNCED) as redis:
        empty = memory(redis)
        keys = fill(redis, "d", 2 * postbacks, length=NATURAL)
        return 2 * (memory(redis) - empty) / keys


# The number of members in the buckets of a store, the bytes of these buckets, and how many of them are no integer sets.
WEIGH = """local members, bytes, other = 0, 0, 0
for shard = 0, 255 do
  for bucket = 0, tonumber(ARGV[3]) - 1 do
    local key = string.format('{attr:%03d}:seen:%s:%d:%d', shard, ARGV[1], ARGV[2], bucket)
    local many = redis.call('SCARD', key)
    if many > 0 then
      members, bytes = members + many, bytes + redis.call('MEMORY', 'USAGE', key, 'SAMPLES', 0)
      if redis.call('OBJECT', 'ENCODING', key) ~= 'intset' then other = other + 1 end
    end
  end
end
return {members, bytes, other}"""


def bytes_per_member(redis: Redis, store: str, length: int, buckets: int) -> float:
    """The bytes for each member of the current generation's buckets, by Redis' own measurement of each bucket."""
    members, stored, other = map(int, redis.cli("EVAL", WEIGH, "0", store, str(int(time.time()) // length), str(buckets)).split())
    if other:
        raise RuntimeError(f"{other} buckets are no integer sets")
    return stored / members


def by_accept(native: Native, load_script: Callable[[Redis], str], store: str, count: int, length: int, buckets: int) -> tuple[float, float]:
    """The bytes for each member of one store's buckets, added by this benchmark and by the accept script."""
    with Redis(None, *UNSYNCED) as redis:
        fill(redis, store, count, length=length, buckets=buckets)
        made = bytes_per_member(redis, store, length, buckets)
    with Redis(None, *UNSYNCED) as redis:
        run = native.accepts(redis.port, load_script(redis), 600, count=count, seed=1, body=20, envelope=20, pipeline=16, record_seconds=1,
                             store=store, generation=length, buckets=buckets)
        if run["taken"] != count:
            raise RuntimeError(f"{run['taken']} of {count} were new")
        return made, bytes_per_member(redis, store, length, buckets)


def cost(redis: Redis, script: str, *keys: str) -> float:
    """The microseconds of Redis for each of a script's hundred thousand commands."""
    redis.cli("CONFIG", "RESETSTAT")
    redis.cli("EVAL", script, str(len(keys)), *keys)
    return int(re.search(r"cmdstat_eval:calls=1,usec=(\d+)", redis.cli("INFO", "commandstats"))[1]) / 1e5


def report(report: Report, native: Native, load_script: Callable[[Redis], str], quick: bool) -> None:
    postbacks = 200_000 if quick else 10_000_000
    whole = steady(postbacks, digests=True)
    report.figures["remembered"] = {"whole": whole}
    # The quick form has no target: with so few members, the names of the buckets need most of the memory.
    target = () if quick else ("at most 11", whole["all"] <= 11)
    report.add(f"{whole['postbacks']:,} postbacks remembered: bytes each, of which natural key",
               f"{whole['all']:.2f}, {whole['natural']:.2f}", *target)
    report.add("  a digest of the unsigned values for each (`queues.unsignedDigests`)", f"{whole['digest']:.2f}")
    report.add("  bytes each if digests of copies were kept as long as natural keys", f"{with_long_lived_copies(postbacks):.2f}")
    for buckets, age in ((256, 0.1), (128, 0.1), (128, 0.5)) if not quick else ((128, 0.1),):
        found = steady(postbacks, buckets=buckets, age=age)
        report.figures["remembered"][f"{buckets} buckets, {age:g} of the next generation"] = found
        report.add(f"  `seenBuckets: {buckets}`, and {age:g} of the next generation: {found['postbacks']:,}, bytes each",
                   f"{found['all']:.2f}")
    for store, count, length, buckets in (("c", 60_000, COPY, 4), ("d", 60_000, NATURAL, 4)):
        made, accepted = by_accept(native, load_script, store, count, length, buckets)
        report.add(f"  {count:,} in {SHARDS * buckets:,} buckets of store {store}, added by this benchmark and by the accept script: bytes each",
                   f"{made:.2f}, {accepted:.2f}")
    with Redis(None, *UNSYNCED) as redis:
        redis.cli("SADD", "{attr:000}:s", *(str(7 * 10**15 * number) for number in range(300)))
        report.add("one query of a set of 300 members, and one member added to a set that grows to 250: µs of a script",
                   f"{cost(redis, QUERY, '{attr:000}:s'):.2f}, {cost(redis, INSERT):.2f}")
    report.notes.append(
        "Postbacks remembered: the natural keys of a whole generation of ten days, and the digests of copies of the thirteen hours for which "
        "Redis may keep them, at the same steady rate. Each member is added under the names and in the format that ingest and verifier use, "
        "distributed over the buckets by chance, with the bucket's expiry. Bytes are all that Redis has stored, divided by the natural keys.")
