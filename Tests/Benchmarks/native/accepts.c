// Calls the accept script of Shared/AttributionQueue/Scripts on a Redis as ingest does, with keys that spread as ingest's do: 256 shards,
// a number of buckets in each, no delivery twice. Like redis-benchmark, whose random numbers cannot name 256 streams and ten million
// deliveries at once. One thread.
//
// accepts PORT CONNECTIONS PIPELINE COUNT SECONDS SHA1 SEED BUCKETS BODY ENVELOPE RECORD_SECONDS STORE GENERATION_SECONDS
//   PIPELINE        commands under way on each connection
//   COUNT, SECONDS  whichever ends first
//   BODY, ENVELOPE  their lengths, bytes
//   RECORD_SECONDS  how long a delivery's record is kept
//   STORE           where the keys are remembered: c for copies of postbacks, as ingest has it, d for natural keys
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST_CONNECTIONS = 256, MOST_BYTES = 4096 };

static long long generation_seconds;
static const char *sha1, *record_seconds, *store;
static char body[MOST_BYTES], envelope[MOST_BYTES];
static uint64_t seed, buckets, made;

static void fail(const char *what) {
  fprintf(stderr, "accepts: %s: %s\n", what, strerror(errno));
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static uint64_t scrambled(uint64_t word) {
  word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
  word = (word ^ word >> 27) * 0x94d049bb133111eb;
  return word ^ word >> 31;
}

static char *put(char *at, const char *text) {
  return at + sprintf(at, "$%zu\r\n%s\r\n", strlen(text), text);
}

static char *command(char *at) {
  uint64_t place = scrambled(seed + 3 * made), high = scrambled(seed + 3 * made + 1), low = scrambled(seed + 3 * made + 2);
  made++;
  int shard = (int)(place >> 56);
  long long bucket = (long long)((place & 0xffffffff) % buckets), seconds = time(NULL), generation = seconds / generation_seconds;
  char text[128];
  at += sprintf(at, "*21\r\n$7\r\nEVALSHA\r\n$40\r\n%s\r\n$1\r\n7\r\n", sha1);
  for (int index = 0; index < 3; index++) {
    sprintf(text, "{attr:%03d}:seen:%.1s:%lld:%lld", shard, store, generation + (int[]){0, -1, 1}[index], bucket);
    at = put(at, text);
  }
  const char *suffixes[] = {"q:intake", "q:intake:delayed", "q:intake:payloads"};
  for (int index = 0; index < 3; index++) {
    sprintf(text, "{attr:%03d}:%s", shard, suffixes[index]);
    at = put(at, text);
  }
  sprintf(text, "{attr:%03d}:r:%016llx%016llx", shard, (unsigned long long)high, (unsigned long long)low);
  at = put(at, text);
  sprintf(text, "%lld", (long long)low);
  at = put(at, text);
  sprintf(text, "%lld", 2 * generation_seconds + 3600);
  at = put(at, text);
  at = put(at, "1000000000");
  sprintf(text, "%03d-%016llx%016llx", shard, (unsigned long long)high, (unsigned long long)low);
  at = put(at, text);
  at = put(at, record_seconds);
  sprintf(text, "{\"s\":\"accepted\",\"q\":\"intake\",\"k\":\"skadnetwork-postback\",\"a\":%lld000,\"n\":0}", seconds);
  at = put(at, text);
  at = put(at, "0");
  at = put(at, "skadnetwork-postback");
  at = put(at, body);
  at = put(at, envelope);
  // maxAnnouncementBytes of DeliveryQueue+Accept.swift.
  return put(at, "4096");
}

int main(int count, char **words) {
  if (count != 14) return fprintf(stderr, "accepts: thirteen words are needed; see its source\n"), 2;
  int port = atoi(words[1]), most = atoi(words[2]), pipeline = atoi(words[3]);
  uint64_t total = strtoull(words[4], NULL, 10);
  double seconds = atof(words[5]);
  sha1 = words[6];
  seed = scrambled(strtoull(words[7], NULL, 10));
  buckets = strtoull(words[8], NULL, 10);
  record_seconds = words[11];
  store = words[12];
  generation_seconds = atoll(words[13]);
  if (most < 1 || most > MOST_CONNECTIONS || pipeline < 1 || pipeline > 1000 || buckets < 1 || generation_seconds < 1) return 2;
  size_t body_length = strtoul(words[9], NULL, 10), envelope_length = strtoul(words[10], NULL, 10);
  if (body_length >= MOST_BYTES || envelope_length >= MOST_BYTES) return 2;
  // As compressible as genuine ones, which matters to nothing but the rewriting of the append-only file.
  for (size_t index = 0; index < body_length; index++) body[index] = (char)('a' + scrambled(index) % 26);
  for (size_t index = 0; index < envelope_length; index++) envelope[index] = (char)('a' + scrambled(index) % 26);

  int poll = epoll_create1(0), descriptors[MOST_CONNECTIONS], waiting[MOST_CONNECTIONS] = {0};
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  char *out = malloc((size_t)pipeline * 3 * MOST_BYTES), in[65536];
  if (!out) fail("malloc");
  uint64_t sent = 0, answered = 0, taken = 0, refused = 0;
  double began = now();
  for (int index = 0; index < most; index++) {
    int on = 1, descriptor = descriptors[index] = socket(AF_INET, SOCK_STREAM, 0);
    if (descriptor < 0 || connect(descriptor, (struct sockaddr *)&address, sizeof address)) fail("connect");
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)index};
    epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event);
  }
  int first = 1, over = 0;
  while (!over || answered < sent) {
    struct epoll_event events[MOST_CONNECTIONS];
    int ready = first ? most : epoll_wait(poll, events, MOST_CONNECTIONS, 30000);
    if (ready <= 0) return fprintf(stderr, "accepts: no answer\n"), 1;
    for (int each = 0; each < ready; each++) {
      int index = first ? each : (int)events[each].data.u32;
      if (!first) {
        ssize_t got = read(descriptors[index], in, sizeof in);
        if (got <= 0) fail("read");
        // Replies are `:1`, `:0` or `-` and words; each is one line.
        for (ssize_t at = 0; at < got; at++) {
          if (in[at] == '\n') waiting[index]--, answered++;
          if (in[at] == '1' && at && in[at - 1] == ':') taken++;
          if (in[at] == '-' && (!at || in[at - 1] == '\n') && !refused++) fprintf(stderr, "accepts: %.*s\n", (int)(got - at), in + at);
        }
      }
      if (now() - began >= seconds || sent >= total || refused) over = 1;
      // The next commands go when all are answered: one write, one read.
      if (over || waiting[index]) continue;
      char *end = out;
      for (; waiting[index] < pipeline && sent < total; sent++, waiting[index]++) end = command(end);
      for (char *at = out; at < end;) {
        ssize_t wrote = write(descriptors[index], at, (size_t)(end - at));
        if (wrote <= 0) fail("write");
        at += wrote;
      }
    }
    first = 0;
  }
  double took = now() - began;
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  double busy = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  printf("{\"answers\":%llu,\"taken\":%llu,\"refused\":%llu,\"seconds\":%.3f,\"rate\":%.1f,\"core\":%.3f}\n", (unsigned long long)answered,
         (unsigned long long)taken, (unsigned long long)refused, took, (double)answered / took, busy / took);
  return refused ? 1 : 0;
}
