// Waits at Redis for the events of some shards and notes when each came to the socket, until it is told to end (SIGTERM).
//
// observe PORT STEP TIMES
//   STEP   each such-and-such shard is watched, from the first
//   TIMES  a file for "<delivery id> <nanoseconds since 1970>" of each event
#define _GNU_SOURCE
#include "arrival.h"
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SHARDS = 256, ID = 48 };

static char last[SHARDS][ID], *reply;
static size_t held, room, at;
static int redis, step;
static FILE *times;
static volatile sig_atomic_t ends;

static void fail(const char *what) {
  fprintf(stderr, "observe: %s: %s\n", what, strerror(errno));
  exit(1);
}

// Ends a read that is under way, and those to come.
static void end(int signal) {
  ends = 1;
  shutdown(redis, SHUT_RDWR);
}

static void done(void) {
  if (fclose(times)) fail("TIMES");
  exit(0);
}

static void put(const char *words, size_t length) {
  while (length) {
    ssize_t put = write(redis, words, length);
    if (ends) done();
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail("write");
    words += put;
    length -= put;
  }
}

static void ask(void) {
  static char words[SHARDS * 128];
  int many = (SHARDS + step - 1) / step;
  char *to = words + sprintf(words, "*%d\r\n$5\r\nXREAD\r\n$5\r\nBLOCK\r\n$1\r\n0\r\n$7\r\nSTREAMS\r\n", 4 + 2 * many);
  for (int shard = 0; shard < SHARDS; shard += step) to += sprintf(to, "$17\r\n{attr:%03d}:events\r\n", shard);
  for (int shard = 0; shard < SHARDS; shard += step) to += sprintf(to, "$%zu\r\n%s\r\n", strlen(last[shard]), last[shard]);
  put(words, to - words);
}

// Reads on; the time at which the last of it came.
static int64_t more(void) {
  if (held == room && !(reply = realloc(reply, room = room ? room * 2 : 1 << 20))) fail("realloc");
  for (;;) {
    int64_t came = 0;
    ssize_t got = arrived(redis, reply + held, room - held, &came);
    if (ends) done();
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail("read");
    held += got;
    return came;
  }
}

// The next line of the reply, as a number behind its first letter; -1 when it is not whole yet.
static long line(char kind) {
  char *end = memmem(reply + at, held - at, "\r\n", 2);
  if (!end) return -1;
  if (reply[at] != kind) fail("unexpected reply");
  long number = strtol(reply + at + 1, NULL, 10);
  at = end + 2 - reply;
  return number;
}

// The next text of the reply; null when it is not whole yet.
static char *text(long *length) {
  if ((*length = line('$')) < 0 || held - at < (size_t)*length + 2) return NULL;
  char *words = reply + at;
  at += *length + 2;
  return words;
}

// Reads the reply from its beginning; 1 when it is whole. `came`: when that was, or 0 to look without noting.
static int walk(int64_t came) {
  long streams, entries, fields, length;
  char *words;
  at = 0;
  if ((streams = line('*')) < 0) return 0;
  while (streams--) {
    if (line('*') < 0 || !(words = text(&length)) || (entries = line('*')) < 0) return 0;
    int shard = strtol(words + 6, NULL, 10);
    while (entries--) {
      if (line('*') < 0 || !(words = text(&length))) return 0;
      if (length >= ID) fail("unexpected id");
      if (came) sprintf(last[shard], "%.*s", (int)length, words);
      if ((fields = line('*')) < 0) return 0;
      while (fields--) {
        if (!(words = text(&length))) return 0;
        static const char name[] = "\"deliveryId\":\"";
        char *id = came ? memmem(words, length, name, sizeof name - 1) : NULL;
        if (id) fprintf(times, "%.36s %lld\n", id + sizeof name - 1, (long long)came);
      }
    }
  }
  return 1;
}

int main(int count, char **words) {
  if (count != 4 || (step = atoi(words[2])) < 1) return fprintf(stderr, "observe PORT STEP TIMES\n"), 2;
  if (!(times = fopen(words[3], "w"))) fail(words[3]);
  signal(SIGPIPE, SIG_IGN);
  struct sigaction action = {.sa_handler = end};
  sigaction(SIGTERM, &action, NULL);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(words[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  redis = socket(AF_INET, SOCK_STREAM, 0);
  if (redis < 0 || connect(redis, (struct sockaddr *)&address, sizeof address) || tell_arrivals(redis)) fail("connect");
  for (int shard = 0; shard < SHARDS; shard++) strcpy(last[shard], "0-0");
  for (;;) {
    ask();
    held = 0;
    int64_t came;
    do came = more();
    while (!walk(0));
    walk(came);
  }
}
