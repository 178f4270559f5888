/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of ISO C's string.h that firmware needs.
 */
#ifndef KILN_STRING_H_
#define KILN_STRING_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void* memcpy(void* __restrict to, const void* __restrict from, size_t bytes);
void* memmove(void* to, const void* from, size_t bytes);
void* memset(void* to, int value, size_t bytes);
int memcmp(const void* a, const void* b, size_t bytes);
void* memchr(const void* in, int value, size_t bytes);
size_t strlen(const char* text);
int strcmp(const char* a, const char* b);
int strncmp(const char* a, const char* b, size_t bytes);
char* strcpy(char* __restrict to, const char* __restrict from);
char* strncpy(char* __restrict to, const char* __restrict from, size_t bytes);
char* strchr(const char* text, int character);

#ifdef __cplusplus
}
#endif

#endif
