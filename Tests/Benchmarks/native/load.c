// Posts different, genuine-looking postbacks to ingest's public port; says how many were answered 200, how fast, and what core share
// this program itself took. One thread, so cheap that it does not hold up what it measures: at a rate it wakes when a request is due and
// looks for answers then, since the kernel notes when they came.
//
// load PORT CONNECTIONS SECONDS RATE REPEAT SEED BODIES TIMES [PATH [FIRST]]
//   RATE    requests a second, sent on time whatever the answers do, their latency counted from when they were due until the answer came
//           to the socket; 0: each connection sends its next request when it has its answer
//   REPEAT  bodies that differ, sent again and again; 0: no body is sent twice
//   BODIES  a file with one body a line, each sent once, the run ends with the last; -: bodies are made here
//   TIMES   a file for "<delivery id> <nanoseconds since 1970>" of each answer, as it came to the socket; -: none
//   PATH    where to post; /v1/postbacks unless given
//   FIRST   the line of BODIES to begin with, 0 unless given
#define _GNU_SOURCE
#include "arrival.h"
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_CONNECTIONS = 1024, BUFFER = 8192 };

struct connection {
  int descriptor;
  int64_t due;
  size_t held;
  char answer[BUFFER];
};

static struct connection connections[MOST_CONNECTIONS];
// Those without a request, the longest idle one first: each has its turn before it would be closed for saying nothing.
static int idle[MOST_CONNECTIONS], idles, longest_idle;
static uint64_t seed, made, repeat;
static const char *bodies, *bodies_end, *path = "/v1/postbacks";
static FILE *times;
static uint32_t *latencies;
static size_t answers, room, failures;

static void fail(const char *what) {
  fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
  exit(1);
}

static int64_t now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static uint64_t scrambled(uint64_t word) {
  word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
  word = (word ^ word >> 27) * 0x94d049bb133111eb;
  return word ^ word >> 31;
}

// Writes the next request; 0 when there is none.
static int next(char *request, size_t size) {
  char body[12288];
  int length;
  if (bodies) {
    if (bodies >= bodies_end) return 0;
    const char *end = memchr(bodies, '\n', (size_t)(bodies_end - bodies));
    if (!end) end = bodies_end;
    if (end - bodies >= (ptrdiff_t)sizeof body) return 0;
    length = (int)(end - bodies);
    memcpy(body, bodies, (size_t)length);
    bodies = end + 1;
  } else {
    uint64_t number = repeat ? made % repeat : made;
    uint64_t high = scrambled(seed ^ number * 2), low = scrambled(seed ^ (number * 2 + 1));
    length = snprintf(
        body, sizeof body,
        "{\"version\":\"4.0\",\"ad-network-id\":\"example123.skadnetwork\",\"source-identifier\":\"5239\",\"app-id\":525463029,"
        "\"transaction-id\":\"%08x-%04x-4%03x-8%03x-%012llx\",\"redownload\":false,\"source-domain\":\"example.com\",\"fidelity-type\":1,"
        "\"did-win\":true,\"conversion-value\":63,\"postback-sequence-index\":0,\"attribution-signature\":\"MEUCIGRmSMrqedNu6uaHyhVcifs118"
        "R5z/AB6cvRaKrRRHWRAiEAv96ne3dKQ5kJpbsfk4eYiePmrZUU6sQmo+7zfP/1Bxo=\"}",
        (uint32_t)(high >> 32), (uint32_t)(high >> 16 & 0xffff), (uint32_t)(high & 0xfff), (uint32_t)(low >> 48 & 0xfff),
        (unsigned long long)(low & 0xffffffffffff));
    made++;
  }
  return snprintf(
      request, size,
      "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%.*s", path, length, length,
      body);
}

static void rest(int index) { idle[(longest_idle + idles++) % MOST_CONNECTIONS] = index; }

static int ask(int index, int64_t due) {
  char request[16384];
  int length = next(request, sizeof request);
  if (!length) return 0;
  connections[index].due = due;
  // An idle connection's buffer takes a request whole.
  if (write(connections[index].descriptor, request, (size_t)length) != length) fail("write");
  return 1;
}

// Reads what there is; 1 when the answer is whole.
static int take(int index) {
  struct connection *connection = &connections[index];
  int64_t came = 0;
  ssize_t got = arrived(connection->descriptor, connection->answer + connection->held, BUFFER - 1 - connection->held, &came);
  if (got < 0 && errno == EAGAIN) return 0;
  if (got <= 0) fail("the connection was closed");
  if (!came) fail("no note of an arrival");
  connection->held += (size_t)got;
  connection->answer[connection->held] = 0;
  char *body = strstr(connection->answer, "\r\n\r\n");
  if (!body) return 0;
  body += 4;
  char *length = strcasestr(connection->answer, "\r\ncontent-length:");
  if (!length || length > body || connection->held < (size_t)(body - connection->answer) + strtoul(length + 17, NULL, 10)) return 0;
  if (memcmp(connection->answer, "HTTP/1.1 200 ", 13)) {
    if (!failures++) fprintf(stderr, "%s\n", connection->answer);
  }
  if (times) {
    char *id = strstr(body, "\"id\":\"");
    if (id) fprintf(times, "%.36s %lld\n", id + 6, (long long)came);
  }
  if (answers == room) {
    room = room ? room * 2 : 1 << 20;
    latencies = realloc(latencies, room * sizeof *latencies);
    if (!latencies) fail("realloc");
  }
  int64_t waited = came - (now(CLOCK_REALTIME) - now(CLOCK_MONOTONIC)) - connection->due;
  latencies[answers++] = waited > 0 ? (uint32_t)(waited / 1000) : 0;
  connection->held = 0;
  return 1;
}

static int ascending(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static double share(double part) { return answers ? latencies[(size_t)(part * (double)(answers - 1))] / 1000.0 : 0; }

int main(int count, char **words) {
  if (count < 9 || count > 11) return fprintf(stderr, "load PORT CONNECTIONS SECONDS RATE REPEAT SEED BODIES TIMES [PATH [FIRST]]\n"), 2;
  if (count > 9) path = words[9];
  int port = atoi(words[1]), most = atoi(words[2]);
  double seconds = atof(words[3]), rate = atof(words[4]);
  repeat = strtoull(words[5], NULL, 10);
  seed = scrambled(strtoull(words[6], NULL, 10));
  if (most < 1 || most > MOST_CONNECTIONS) return 2;
  if (strcmp(words[7], "-")) {
    int file = open(words[7], O_RDONLY);
    struct stat status;
    if (file < 0 || fstat(file, &status)) fail(words[7]);
    bodies = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
    if (bodies == MAP_FAILED) fail(words[7]);
    bodies_end = bodies + status.st_size;
    for (uint64_t first = count > 10 ? strtoull(words[10], NULL, 10) : 0; first && bodies < bodies_end; first--) {
      const char *end = memchr(bodies, '\n', (size_t)(bodies_end - bodies));
      bodies = end ? end + 1 : bodies_end;
    }
  }
  if (strcmp(words[8], "-") && !(times = fopen(words[8], "w"))) fail(words[8]);

  int poll = epoll_create1(0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  for (int index = 0; index < most; index++) {
    int on = 1, descriptor = socket(AF_INET, SOCK_STREAM, 0);
    if (descriptor < 0 || connect(descriptor, (struct sockaddr *)&address, sizeof address)) fail("connect");
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(descriptor, F_SETFL, O_NONBLOCK);
    if (tell_arrivals(descriptor)) fail("SO_TIMESTAMPNS");
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)index};
    epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event);
    connections[index].descriptor = descriptor;
    rest(index);
  }
  // The kernel begins to note arrivals a moment after it was asked to.
  usleep(50000);
  int64_t began = now(CLOCK_MONOTONIC), end = began + (int64_t)(seconds * 1e9), late = 0;
  uint64_t sent = 0;
  int over = 0;
  while (!over || idles < most) {
    int64_t at = now(CLOCK_MONOTONIC), wait = 1000000000;
    if (at >= end) over = 1;
    while (!over && idles) {
      int64_t due = rate > 0 ? began + (int64_t)((double)sent / rate * 1e9) : at;
      if (due > at) {
        wait = due - at;
        break;
      }
      if (!ask(idle[longest_idle], due)) {
        over = 1;
        break;
      }
      longest_idle = (longest_idle + 1) % MOST_CONNECTIONS;
      idles--;
      sent++;
      if (at - due > late) late = at - due;
    }
    if (over && idles == most) break;
    if (at > end + 30000000000LL) return fprintf(stderr, "load: %d answers are missing\n", most - idles), 1;
    struct epoll_event events[256];
    struct timespec time = {wait / 1000000000, wait % 1000000000};
    if (!over && rate > 0 && idles) {
      nanosleep(&time, NULL);
      time = (struct timespec){0};
    }
    int ready = epoll_pwait2(poll, events, 256, &time, NULL);
    for (int index = 0; index < ready; index++)
      if (take((int)events[index].data.u32)) rest((int)events[index].data.u32);
  }
  double took = (double)(now(CLOCK_MONOTONIC) - began) / 1e9;
  if (times) fclose(times);
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  double busy = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  qsort(latencies, answers, sizeof *latencies, ascending);
  printf("{\"answers\":%zu,\"failures\":%zu,\"seconds\":%.3f,\"rate\":%.1f,\"core\":%.3f,\"p50\":%.3f,\"p90\":%.3f,\"p99\":%.3f,"
         "\"p999\":%.3f,\"latest\":%.3f}\n",
         answers, failures, took, (double)answers / took, busy / took, share(0.5), share(0.9), share(0.99),
         share(0.999), (double)late / 1e6);
  return failures ? 1 : 0;
}
