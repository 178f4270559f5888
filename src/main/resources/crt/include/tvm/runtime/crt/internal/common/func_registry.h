/* SPDX-License-Identifier: Apache-2.0
 *
 * Comparing the names of a table of functions. Exposed for tests.
 */
#ifndef TVM_RUNTIME_CRT_INTERNAL_COMMON_FUNC_REGISTRY_H_
#define TVM_RUNTIME_CRT_INTERNAL_COMMON_FUNC_REGISTRY_H_

#ifdef __cplusplus
extern "C" {
#endif

/* Compares the string at *cursor with name: 0 if they are equal, else the difference of the first characters that differ, where the end of
 * a string counts as 0. Leaves *cursor on the terminating zero of its string. */
int strcmp_cursor(const char** cursor, const char* name);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_INTERNAL_COMMON_FUNC_REGISTRY_H_ */
