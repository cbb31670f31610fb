// When bytes came to a socket, by the kernel's note of it: not when this process had its turn to read them.
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

// Asks for the notes; 0 when there will be some.
static int tell_arrivals(int descriptor) {
  int on = 1;
  return setsockopt(descriptor, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
}

// Reads as read(2) does; puts into *came, unless that is null, when the last of the bytes came, in nanoseconds since 1970.
static ssize_t arrived(int descriptor, void *bytes, size_t size, int64_t *came) {
  char notes[256];
  struct iovec vector = {bytes, size};
  struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1, .msg_control = notes, .msg_controllen = came ? sizeof notes : 0};
  ssize_t got = recvmsg(descriptor, &message, 0);
  if (got <= 0 || !came) return got;
  for (struct cmsghdr *note = CMSG_FIRSTHDR(&message); note; note = CMSG_NXTHDR(&message, note))
    if (note->cmsg_level == SOL_SOCKET && note->cmsg_type == SCM_TIMESTAMPNS) {
      struct timespec time;
      memcpy(&time, CMSG_DATA(note), sizeof time);
      *came = time.tv_sec * 1000000000LL + time.tv_nsec;
    }
  return got;
}
