// Waits at Redis for the events of some shards and notes when each came to the socket, until it is told to end (SIGTERM).
//
// observe PORT STEP TIMES
//   STEP   each such-and-such shard is watched, from the first
//   TIMES  a file for "<delivery id> <nanoseconds since 1970>" of each event
#define _GNU_SOURCE
#include "arrival.h"
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SHARDS = 256, ID = 48 };

// A connection that waits for the events of a shard: none comes while it is not waiting but those that follow another at once.
struct shard {
  int number, redis;
  char last[ID], *reply;
  size_t held, room, at;
};

static struct shard shards[SHARDS];
static FILE *times;
static volatile sig_atomic_t ends;

static void fail(const char *what) {
  fprintf(stderr, "observe: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void stop(int number) {
  (void)number;
  ends = 1;
}

static void ask(struct shard *shard) {
  char words[256];
  int length = snprintf(
      words, sizeof words,
      "*6\r\n$5\r\nXREAD\r\n$5\r\nBLOCK\r\n$1\r\n0\r\n$7\r\nSTREAMS\r\n$17\r\n{attr:%03d}:events\r\n$%zu\r\n%s\r\n", shard->number,
      strlen(shard->last), shard->last);
  shard->held = 0;
  // An idle connection's buffer takes a request whole.
  if (write(shard->redis, words, (size_t)length) != length) fail("write");
}

// Reads on; the time at which the last of it came.
static int64_t more(struct shard *shard) {
  if (shard->held == shard->room && !(shard->reply = realloc(shard->reply, shard->room = shard->room ? shard->room * 2 : 64 << 10)))
    fail("realloc");
  int64_t came = 0;
  ssize_t got = arrived(shard->redis, shard->reply + shard->held, shard->room - shard->held, &came);
  if (got <= 0) fail("read");
  if (!came) fail("no note of an arrival");
  shard->held += (size_t)got;
  return came;
}

// The next line of the reply, as a number behind its first letter; -1 when it is not whole yet.
static long line(struct shard *shard, char kind) {
  char *from = shard->reply + shard->at, *end = memmem(from, shard->held - shard->at, "\r\n", 2);
  if (!end) return -1;
  if (*from != kind) fail("unexpected reply");
  long number = strtol(from + 1, NULL, 10);
  shard->at = (size_t)(end + 2 - shard->reply);
  return number;
}

// The next text of the reply; null when it is not whole yet.
static char *text(struct shard *shard, long *length) {
  if ((*length = line(shard, '$')) < 0 || shard->held - shard->at < (size_t)*length + 2) return NULL;
  char *words = shard->reply + shard->at;
  shard->at += (size_t)*length + 2;
  return words;
}

// Reads the reply from its beginning; 1 when it is whole. `came`: when that was, or 0 to look without noting.
static int walk(struct shard *shard, int64_t came) {
  long entries, length;
  shard->at = 0;
  // One stream: its name and its entries.
  if (line(shard, '*') < 0 || line(shard, '*') < 0 || !text(shard, &length) || (entries = line(shard, '*')) < 0) return 0;
  while (entries--) {
    const char *entry = line(shard, '*') < 0 ? NULL : text(shard, &length);
    if (!entry) return 0;
    if (length >= ID) fail("unexpected id");
    if (came) sprintf(shard->last, "%.*s", (int)length, entry);
    long fields = line(shard, '*');
    if (fields < 0) return 0;
    while (fields--) {
      char *words = text(shard, &length);
      if (!words) return 0;
      static const char name[] = "\"deliveryId\":\"";
      char *id = came ? memmem(words, (size_t)length, name, sizeof name - 1) : NULL;
      if (id && words + length - id >= (long)sizeof name + 35) fprintf(times, "%.36s %lld\n", id + sizeof name - 1, (long long)came);
    }
  }
  return 1;
}

int main(int count, char **words) {
  int step = count == 4 ? atoi(words[2]) : 0;
  if (step < 1) return fprintf(stderr, "observe PORT STEP TIMES\n"), 2;
  if (!(times = fopen(words[3], "w"))) fail(words[3]);
  // Told to end only while it waits.
  sigset_t none, asked;
  sigemptyset(&none);
  sigemptyset(&asked);
  sigaddset(&asked, SIGTERM);
  sigprocmask(SIG_BLOCK, &asked, NULL);
  struct sigaction action = {.sa_handler = stop};
  sigaction(SIGTERM, &action, NULL);
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(words[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct pollfd waiting[SHARDS];
  nfds_t many = 0;
  for (int number = 0; number < SHARDS; number += step) {
    struct shard *shard = &shards[many];
    *shard = (struct shard){.number = number, .redis = socket(AF_INET, SOCK_STREAM, 0), .last = "0-0"};
    if (shard->redis < 0 || connect(shard->redis, (struct sockaddr *)&address, sizeof address) || tell_arrivals(shard->redis))
      fail("connect");
    waiting[many++] = (struct pollfd){.fd = shard->redis, .events = POLLIN};
    ask(shard);
  }
  while (!ends) {
    if (ppoll(waiting, many, NULL, &none) < 0 && errno != EINTR) fail("poll");
    for (nfds_t index = 0; index < many && !ends; index++) {
      if (!waiting[index].revents) continue;
      waiting[index].revents = 0;
      int64_t came = more(&shards[index]);
      if (!walk(&shards[index], 0)) continue;
      walk(&shards[index], came);
      ask(&shards[index]);
    }
  }
  return fclose(times) ? 1 : 0;
}
