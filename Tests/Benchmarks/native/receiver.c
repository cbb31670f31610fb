// Takes posted events: an HTTP/1.1 server on loopback, one thread. Notes of each request its path, its webhook-id and when its body was
// whole (CLOCK_REALTIME, nanoseconds), a line each. What is posted to a path that begins with /hang is never answered.
// cc -O2 -o receiver receiver.c; ./receiver PORT FILE, until SIGTERM.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1 << 16 };

struct connection {
  size_t length;
  char bytes[MOST];
};

static struct connection *connections[MOST];
static volatile sig_atomic_t ended;
static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

static void end(int number) {
  (void)number;
  ended = 1;
}

static const char *header(const char *head, const char *name, size_t *length) {
  size_t name_length = strlen(name);
  for (const char *line = strstr(head, "\r\n"); line; line = strstr(line, "\r\n")) {
    line += 2;
    if (strncasecmp(line, name, name_length) == 0 && line[name_length] == ':') {
      line += name_length + 1;
      while (*line == ' ') line++;
      *length = strcspn(line, "\r\n");
      return line;
    }
  }
  return NULL;
}

static void drop(int socket) {
  free(connections[socket]);
  connections[socket] = NULL;
  close(socket);
}

// Takes whole requests off the front of what was read; answers 0 when the connection is to be closed.
static int serve(int socket, struct connection *connection, FILE *notes) {
  size_t used = 0;
  while (used < connection->length) {
    char *start = connection->bytes + used;
    connection->bytes[connection->length] = 0;
    char *body = strstr(start, "\r\n\r\n");
    if (!body) break;
    *body = 0;
    size_t length = 0, id_length = 0, size = 0;
    const char *stated = header(start, "content-length", &length), *id = header(start, "webhook-id", &id_length);
    size = stated ? strtoul(stated, NULL, 10) : 0;
    if ((size_t)(body + 4 - connection->bytes) + size > connection->length) {
      *body = '\r';
      break;
    }
    const char *path = strchr(start, ' ');
    if (!path) return 0;
    path++;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    fprintf(notes, "%.*s %.*s %lld\n", (int)strcspn(path, " "), path, (int)id_length, id ? id : "",
            (long long)now.tv_sec * 1000000000 + now.tv_nsec);
    if (strncmp(path, "/hang", 5) != 0 && write(socket, answer, sizeof answer - 1) < 0) return 0;
    used = (size_t)(body + 4 - connection->bytes) + size;
  }
  memmove(connection->bytes, connection->bytes + used, connection->length - used);
  connection->length -= used;
  return connection->length < MOST - 1;
}

int main(int count, char **words) {
  if (count != 3) return 64;
  FILE *notes = fopen(words[2], "w");
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1, poll = epoll_create1(0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(words[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (!notes || bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 4096) != 0) return 1;
  struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[256];
  epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
  struct sigaction action = {.sa_handler = end};
  sigaction(SIGTERM, &action, NULL);
  signal(SIGPIPE, SIG_IGN);
  while (!ended) {
    int ready = epoll_wait(poll, events, 256, 200);
    if (ready == 0) fflush(notes);
    for (int index = 0; index < ready; index++) {
      int socket = events[index].data.fd;
      if (socket == listener) {
        for (int made; (made = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0;) {
          if (made >= MOST || !(connections[made] = malloc(sizeof(struct connection)))) {
            close(made);
            continue;
          }
          connections[made]->length = 0;
          setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
          event.data.fd = made;
          epoll_ctl(poll, EPOLL_CTL_ADD, made, &event);
        }
        continue;
      }
      struct connection *connection = connections[socket];
      ssize_t got = read(socket, connection->bytes + connection->length, MOST - 1 - connection->length);
      if (got <= 0) {
        drop(socket);
        continue;
      }
      connection->length += (size_t)got;
      if (!serve(socket, connection, notes)) drop(socket);
    }
  }
  fclose(notes);
  return 0;
}
