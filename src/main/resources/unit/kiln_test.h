/* SPDX-License-Identifier: Apache-2.0
 *
 * Unit tests in C or C++, run by kiln:test on this computer and on the board:
 *
 *   #include "kiln_test.h"
 *
 *   KILN_TEST(mean_of_one_number) {
 *     KILN_CHECK_EQUAL(mean(&seven, 1), 7);
 *     KILN_CHECK(is_ready());
 *   }
 *
 * A check that fails ends its test.
 */
#ifndef KILN_TEST_H_
#define KILN_TEST_H_

#ifdef __cplusplus
extern "C" {
#endif

struct kiln_test {
  const char* name;
  void (*run)(void);
  struct kiln_test* next;
};

/* Adds a test behind those that are there; KILN_TEST calls it before main. */
void kiln_test_add(struct kiln_test* test);

/* Says what failed. */
void kiln_test_failed(const char* file, int line, const char* what);

/* Says that two numbers differ. */
void kiln_test_differs(const char* file, int line, const char* what, long long actual, long long expected);

#ifdef __cplusplus
}
#endif

#define KILN_TEST(test)                                                   \
  static void test(void);                                                 \
  static struct kiln_test test##_entry = {#test, test, 0};                \
  __attribute__((constructor)) static void test##_add(void) {             \
    kiln_test_add(&test##_entry);                                         \
  }                                                                       \
  static void test(void)

#define KILN_CHECK(condition)                              \
  do {                                                     \
    if (!(condition)) {                                    \
      kiln_test_failed(__FILE__, __LINE__, #condition);    \
      return;                                              \
    }                                                      \
  } while (0)

#define KILN_CHECK_EQUAL(actual, expected)                                                     \
  do {                                                                                         \
    const long long kiln_actual = (long long)(actual);                                         \
    const long long kiln_expected = (long long)(expected);                                     \
    if (kiln_actual != kiln_expected) {                                                        \
      kiln_test_differs(__FILE__, __LINE__, #actual " == " #expected, kiln_actual, kiln_expected); \
      return;                                                                                  \
    }                                                                                          \
  } while (0)

#endif
