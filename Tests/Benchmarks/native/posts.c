// What a bare libcurl multi loop reaches: posts the same bytes so many times, so many at once, with headers as a pusher's, and prints posts a
// second and how many failed.
// cc -O2 -o posts posts.c -lcurl; ./posts URL COUNT CONCURRENCY FILE
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static size_t receive(char *bytes, size_t size, size_t count, void *own) {
  (void)bytes;
  (void)own;
  return size * count;
}

int main(int count, char **words) {
  if (count != 5) return 64;
  long wanted = atol(words[2]), together = atol(words[3]), begun = 0, ended = 0, failed = 0;
  static char body[1 << 16];
  FILE *file = fopen(words[4], "r");
  size_t length = file ? fread(body, 1, sizeof body, file) : 0;
  curl_global_init(CURL_GLOBAL_ALL);
  CURLM *multi = curl_multi_init();
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, together);
  const char *lines[] = {
    "Expect:", "Content-Type: application/cloudevents+json; charset=utf-8", "User-Agent: apple-attribution-services",
    "webhook-id: skadnetwork:example123%2Eskadnetwork:6aafb7a5-0170-41b5-bbe4-fe71dedf1e28:0", "webhook-timestamp: 1764032400",
    "webhook-signature: v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="};
  struct curl_slist *headers = NULL;
  for (size_t line = 0; line < sizeof lines / sizeof *lines; line++) headers = curl_slist_append(headers, lines[line]);
  struct timespec from, to;
  clock_gettime(CLOCK_MONOTONIC, &from);
  for (; begun < together && begun < wanted; begun++) {
    CURL *handle = curl_easy_init();
    curl_easy_setopt(handle, CURLOPT_URL, words[1]);
    curl_easy_setopt(handle, CURLOPT_PROXY, "");
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, 15000L);
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE, (long)length);
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, body);
    curl_multi_add_handle(multi, handle);
  }
  while (ended < wanted) {
    int running = 0, left = 0;
    CURLMsg *message;
    curl_multi_perform(multi, &running);
    while ((message = curl_multi_info_read(multi, &left))) {
      if (message->msg != CURLMSG_DONE) continue;
      CURL *handle = message->easy_handle;
      long status = 0;
      curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
      if (message->data.result != CURLE_OK || status != 200) failed++;
      curl_multi_remove_handle(multi, handle);
      ended++;
      if (begun < wanted) {
        begun++;
        curl_multi_add_handle(multi, handle);
      }
    }
    if (ended < wanted) curl_multi_poll(multi, NULL, 0, 1000, NULL);
  }
  clock_gettime(CLOCK_MONOTONIC, &to);
  printf("%.1f %ld\n", (double)wanted / ((double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9), failed);
  return failed == 0 ? 0 : 1;
}
