/* SPDX-License-Identifier: Apache-2.0
 *
 * What newlib-nano and picolibc need of a board: standard streams are the console, memory is what lies behind the image's variables, and
 * exit ends the image. There are no files.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "kiln_console.h"
#include "kiln_heap.h"

/* Moves the end of the memory in use, and returns where it was. */
static void* kiln_memory_end_move(ptrdiff_t bytes) {
  static size_t used;
  size_t room = kiln_heap_bytes() - used;
  if (bytes < 0 ? (size_t)-bytes > used : (size_t)bytes > room) {
    errno = ENOMEM;
    return (void*)-1;
  }
  uint8_t* before = kiln_heap_begin() + used;
  used = (size_t)((ptrdiff_t)used + bytes);
  return before;
}

#ifdef __PICOLIBC__
static int kiln_stream_put(char character, FILE* stream) {
  (void)stream;
  kiln_console_put((uint8_t)character);
  return (unsigned char)character;
}

static int kiln_stream_get(FILE* stream) {
  (void)stream;
  int byte = kiln_console_get();
  return byte < 0 ? _FDEV_EOF : byte;
}

static FILE kiln_stream = FDEV_SETUP_STREAM(kiln_stream_put, kiln_stream_get, NULL, _FDEV_SETUP_RW);

FILE* const stdin = &kiln_stream;
FILE* const stdout = &kiln_stream;
FILE* const stderr = &kiln_stream;

void* sbrk(ptrdiff_t bytes);
void* sbrk(ptrdiff_t bytes) {
  return kiln_memory_end_move(bytes);
}

__attribute__((noreturn)) void _exit(int code);
void _exit(int code) {
  kiln_board_exit(code);
}

/* errno is a variable of the thread, found by tp. Before all other constructors, which may call the library. */
__attribute__((constructor(101))) static void kiln_thread_start(void) {
  __asm__ volatile("la tp, __tls_base");
}
#else
#include <sys/stat.h>

int _write(int file, const char* text, int bytes);
int _read(int file, char* text, int bytes);
void* _sbrk(ptrdiff_t bytes);
__attribute__((noreturn)) void _exit(int code);
int _close(int file);
int _fstat(int file, struct stat* status);
int _isatty(int file);
int _lseek(int file, int offset, int whence);
int _kill(int process, int signal);
int _getpid(void);

int _write(int file, const char* text, int bytes) {
  (void)file;
  for (int i = 0; i < bytes; ++i) {
    kiln_console_put((uint8_t)text[i]);
  }
  return bytes;
}

/* One byte, so that a reader gets what was sent without waiting for more. */
int _read(int file, char* text, int bytes) {
  (void)file;
  int byte = bytes > 0 ? kiln_console_get() : -1;
  if (byte < 0) {
    return 0;
  }
  *text = (char)byte;
  return 1;
}

void* _sbrk(ptrdiff_t bytes) {
  return kiln_memory_end_move(bytes);
}

void _exit(int code) {
  kiln_board_exit(code);
}

int _close(int file) {
  (void)file;
  errno = EBADF;
  return -1;
}

/* A terminal: the library then sends text at the end of each line. */
int _fstat(int file, struct stat* status) {
  (void)file;
  status->st_mode = S_IFCHR;
  return 0;
}

int _isatty(int file) {
  (void)file;
  return 1;
}

int _lseek(int file, int offset, int whence) {
  (void)file;
  (void)offset;
  (void)whence;
  return 0;
}

/* abort raises a signal, which ends the image as in a shell: 128 + the signal's number. */
int _kill(int process, int signal) {
  (void)process;
  kiln_board_exit(128 + signal);
}

int _getpid(void) {
  return 1;
}
#endif
