/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of ISO C's stdlib.h that code of others may use on this computer. The fence around the program leaves the heap what it had at the
 * start.
 */
#ifndef KILN_HOSTED_STDLIB_H_
#define KILN_HOSTED_STDLIB_H_

#include <stddef.h>

#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647

int abs(int value);
long labs(long value);
long long llabs(long long value);
int rand(void);
void srand(unsigned seed);
void* malloc(size_t bytes);
void* calloc(size_t count, size_t bytes);
void* realloc(void* from, size_t bytes);
void free(void* from);
void qsort(void* items, size_t count, size_t bytes, int (*compare)(const void*, const void*));
int atoi(const char* text);
long strtol(const char* restrict text, char** restrict end, int base);
unsigned long strtoul(const char* restrict text, char** restrict end, int base);
double strtod(const char* restrict text, char** restrict end);
_Noreturn void abort(void);
_Noreturn void exit(int status);

#endif
