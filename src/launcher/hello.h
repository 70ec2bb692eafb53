/* Bytes for the engine, and the hello that describes this process to it. */
#pragma once

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;
static char **arguments;
static char folder[4096]; /* of this program: `dist` */
static char cwd[4096];

/* Bytes for the engine that the socket has not taken yet. */
static char *out;
static size_t out_len, out_cap;

static void put(const void *data, size_t n) {
  if (out_len + n > out_cap) {
    out_cap = (out_len + n) * 2;
    if (!(out = realloc(out, out_cap))) _exit(1);
  }
  memcpy(out + out_len, data, n);
  out_len += n;
}

static void put_text(const char *text) { put(text, strlen(text) + 1); }

static size_t begin(char type) {
  put(&type, 1);
  put("\0\0\0\0", 4);
  return out_len;
}

static void finish(size_t start) {
  uint32_t n = (uint32_t)(out_len - start);
  for (int i = 0; i < 4; i++) out[start - 4 + (size_t)i] = (char)(n >> (8 * i));
}

static void put_frame(char type, const void *data, size_t n) {
  size_t start = begin(type);
  put(data, n);
  finish(start);
}

/* Returns the columns and rows of a terminal as text, empty if it is none. */
static const char *window_of(int fd, char *text, size_t n) {
  struct winsize size;
  text[0] = 0;
  if (isatty(fd)) {
    if (ioctl(fd, TIOCGWINSZ, &size)) memset(&size, 0, sizeof size);
    snprintf(text, n, "%ux%u", size.ws_col, size.ws_row);
  }
  return text;
}

static void put_windows(void) {
  char text[32];
  for (int fd = 1; fd <= 2; fd++) put_text(window_of(fd, text, sizeof text));
}

static const char *identity_of(const char *path, char *text, size_t n) {
  struct stat info;
  text[0] = 0;
  if (!stat(path, &info)) snprintf(text, n, "%llu:%llu", (unsigned long long)info.st_dev, (unsigned long long)info.st_ino);
  return text;
}

/* Returns whether the working folder or one above it has a settings file, which the engine must not read. */
static int has_project_file(void) {
  char path[4200];
  size_t n = strlen(cwd);
  memcpy(path, cwd, n);
  for (;;) {
    struct stat info;
    strcpy(path + n, n > 1 ? "/.bax.json" : ".bax.json");
    if (!lstat(path, &info) || (errno != ENOENT && errno != ENOTDIR)) return 1;
    if (n <= 1) return 0;
    while (n > 1 && path[n - 1] != '/') n--;
    if (n > 1) n--;
  }
}

/* Describes this process: texts that end with a zero byte each, in the order that `hello.ts` reads them. */
static void put_hello(const char *build) {
  char text[64];
  size_t start = begin('H');
  put_text(build);
  put_text(folder);
  put_text(cwd);
  put_text(has_project_file() ? "project" : "");
  put_text(identity_of("/", text, sizeof text));
  put_text(identity_of("/proc/self/ns/mnt", text, sizeof text));
  put_text(identity_of(".", text, sizeof text));
  mode_t mask = umask(0);
  umask(mask);
  snprintf(text, sizeof text, "%o", mask);
  put_text(text);
  put_text(isatty(0) ? "tty" : "");
  put_windows();
  int count = 0;
  while (arguments[count]) count++;
  snprintf(text, sizeof text, "%d", count - 1);
  put_text(text);
  for (int i = 1; i < count; i++) put_text(arguments[i]);
  for (char **entry = environ; *entry; entry++) put_text(*entry);
  finish(start);
}
