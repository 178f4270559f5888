/* SPDX-License-Identifier: Apache-2.0
 *
 * ISO C's string.h for code of others on this computer.
 */
#ifndef KILN_HOSTED_STRING_H_
#define KILN_HOSTED_STRING_H_

#include <stddef.h>

void* memcpy(void* restrict to, const void* restrict from, size_t bytes);
void* memmove(void* to, const void* from, size_t bytes);
void* memset(void* to, int value, size_t bytes);
int memcmp(const void* a, const void* b, size_t bytes);
void* memchr(const void* in, int value, size_t bytes);
size_t strlen(const char* text);
int strcmp(const char* a, const char* b);
int strncmp(const char* a, const char* b, size_t bytes);
char* strcpy(char* restrict to, const char* restrict from);
char* strncpy(char* restrict to, const char* restrict from, size_t bytes);
char* strcat(char* restrict to, const char* restrict from);
char* strncat(char* restrict to, const char* restrict from, size_t bytes);
char* strchr(const char* text, int character);
char* strrchr(const char* text, int character);
char* strstr(const char* text, const char* part);

#endif
