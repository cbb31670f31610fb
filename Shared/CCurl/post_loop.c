#include "CCurl.h"
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

struct attribution_post_loop {
  CURLM *multi;
  // The descriptor of epoll, which watches curl's sockets and `wake`.
  int epoll;
  // An eventfd; writing to it ends the wait for events.
  int wake;
  // The time at which curl must be called, in milliseconds of the monotonic clock; -1 if there is none.
  int64_t deadline;
};

static int64_t now_milliseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

// Called by curl when the events change that it needs of a socket.
static int watch_socket(CURL *easy, curl_socket_t socket, int what, void *context, void *unused) {
  (void)easy;
  (void)unused;
  struct attribution_post_loop *loop = context;
  if (what == CURL_POLL_REMOVE) {
    (void)epoll_ctl(loop->epoll, EPOLL_CTL_DEL, socket, NULL);
    return 0;
  }
  struct epoll_event event = {0};
  event.events = ((what & CURL_POLL_IN) ? EPOLLIN : 0) | ((what & CURL_POLL_OUT) ? EPOLLOUT : 0);
  event.data.fd = socket;
  if (epoll_ctl(loop->epoll, EPOLL_CTL_MOD, socket, &event) != 0 && errno == ENOENT) {
    (void)epoll_ctl(loop->epoll, EPOLL_CTL_ADD, socket, &event);
  }
  return 0;
}

// Called by curl when the time changes at which it must be called.
static int set_timer(CURLM *multi, long milliseconds, void *context) {
  (void)multi;
  struct attribution_post_loop *loop = context;
  loop->deadline = milliseconds < 0 ? -1 : now_milliseconds() + milliseconds;
  return 0;
}

struct attribution_post_loop *attribution_post_loop_make(void) {
  struct attribution_post_loop *loop = calloc(1, sizeof *loop);
  if (!loop) return NULL;
  loop->deadline = -1;
  loop->epoll = epoll_create1(EPOLL_CLOEXEC);
  loop->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  loop->multi = curl_multi_init();
  struct epoll_event event = {0};
  event.events = EPOLLIN;
  event.data.fd = loop->wake;
  if (loop->epoll < 0 || loop->wake < 0 || !loop->multi || epoll_ctl(loop->epoll, EPOLL_CTL_ADD, loop->wake, &event) != 0) {
    attribution_post_loop_free(loop);
    return NULL;
  }
  curl_multi_setopt(loop->multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
  curl_multi_setopt(loop->multi, CURLMOPT_SOCKETDATA, loop);
  curl_multi_setopt(loop->multi, CURLMOPT_TIMERFUNCTION, set_timer);
  curl_multi_setopt(loop->multi, CURLMOPT_TIMERDATA, loop);
  return loop;
}

void attribution_post_loop_free(struct attribution_post_loop *loop) {
  if (!loop) return;
  if (loop->multi) curl_multi_cleanup(loop->multi);
  if (loop->wake >= 0) close(loop->wake);
  if (loop->epoll >= 0) close(loop->epoll);
  free(loop);
}

CURLM *attribution_post_loop_multi(struct attribution_post_loop *loop) { return loop->multi; }

void attribution_post_loop_wake(struct attribution_post_loop *loop) {
  uint64_t one = 1;
  // The write fails only if the counter is full. Then the descriptor is readable already, so the turn ends anyway.
  ssize_t written = write(loop->wake, &one, sizeof one);
  (void)written;
}

void attribution_post_loop_turn(struct attribution_post_loop *loop) {
  struct epoll_event events[256];
  // Milliseconds.
  int64_t wait = 1000;
  if (loop->deadline >= 0) {
    wait = loop->deadline - now_milliseconds();
    if (wait < 0) wait = 0;
    if (wait > 1000) wait = 1000;
  }
  int running = 0;
  int count = epoll_wait(loop->epoll, events, sizeof events / sizeof *events, (int)wait);
  for (int index = 0; index < count; index++) {
    if (events[index].data.fd == loop->wake) {
      uint64_t counted;
      ssize_t got = read(loop->wake, &counted, sizeof counted);
      (void)got;
      continue;
    }
    int what = ((events[index].events & EPOLLIN) ? CURL_CSELECT_IN : 0) | ((events[index].events & EPOLLOUT) ? CURL_CSELECT_OUT : 0)
      | ((events[index].events & (EPOLLERR | EPOLLHUP)) ? CURL_CSELECT_ERR : 0);
    curl_multi_socket_action(loop->multi, events[index].data.fd, what, &running);
  }
  if (loop->deadline >= 0 && now_milliseconds() >= loop->deadline) {
    loop->deadline = -1;
    curl_multi_socket_action(loop->multi, CURL_SOCKET_TIMEOUT, 0, &running);
  }
}
