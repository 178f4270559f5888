/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs all tests and tells the host, a line each: "kiln-test: run NAME", then "kiln-test: ok NAME" or "kiln-test: failed NAME: WHAT".
 */
#include "kiln_test.h"

#include <stddef.h>

#include "kiln_console.h"

/* On a computer text is kept back, and lost if a test ends the program. */
#if __STDC_HOSTED__
#include <stdio.h>
#define SEND_ALL() ((void)fflush(stdout))
#else
#define SEND_ALL() ((void)0)
#endif

#define LONGEST_NUMBER 20

static struct kiln_test* first;
static struct kiln_test* last;
static const char* running;
static int failures;
static int has_failed;

int main(void);

void kiln_test_add(struct kiln_test* test) {
  if (last == NULL) {
    first = test;
  } else {
    last->next = test;
  }
  last = test;
}

static void number(long long value) {
  char digits[LONGEST_NUMBER + 1];
  char* text = digits + LONGEST_NUMBER;
  unsigned long long rest = value < 0 ? 0ull - (unsigned long long)value : (unsigned long long)value;
  *text = '\0';
  do {
    *--text = (char)('0' + rest % 10u);
    rest /= 10u;
  } while (rest != 0u);
  kiln_console_text(value < 0 ? "-" : "");
  kiln_console_text(text);
}

static void begin(const char* file, int line, const char* what) {
  has_failed = 1;
  kiln_console_text("kiln-test: failed ");
  kiln_console_text(running);
  kiln_console_text(": ");
  kiln_console_text(file);
  kiln_console_text(":");
  number(line);
  kiln_console_text(": ");
  kiln_console_text(what);
}

void kiln_test_failed(const char* file, int line, const char* what) {
  begin(file, line, what);
  kiln_console_text("\n");
}

void kiln_test_differs(const char* file, int line, const char* what, long long actual, long long expected) {
  begin(file, line, what);
  kiln_console_text(": ");
  number(actual);
  kiln_console_text(" is not ");
  number(expected);
  kiln_console_text("\n");
}

int main(void) {
  for (struct kiln_test* test = first; test != NULL; test = test->next) {
    running = test->name;
    has_failed = 0;
    kiln_console_text("kiln-test: run ");
    kiln_console_text(running);
    kiln_console_text("\n");
    SEND_ALL();
    test->run();
    if (has_failed == 0) {
      kiln_console_text("kiln-test: ok ");
      kiln_console_text(running);
      kiln_console_text("\n");
    }
    failures += has_failed;
  }
  return failures == 0 ? 0 : 1;
}
