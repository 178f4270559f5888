/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of ISO C's stdio.h that prints, for code of others on this computer. C libraries agree on the names of the streams, which are
 * only passed on.
 */
#ifndef KILN_HOSTED_STDIO_H_
#define KILN_HOSTED_STDIO_H_

#include <stdarg.h>
#include <stddef.h>

typedef struct _IO_FILE FILE;

extern FILE* stdin;
extern FILE* stdout;
extern FILE* stderr;

#define EOF (-1)

int printf(const char* restrict format, ...);
int fprintf(FILE* restrict to, const char* restrict format, ...);
int sprintf(char* restrict to, const char* restrict format, ...);
int snprintf(char* restrict to, size_t bytes, const char* restrict format, ...);
int vprintf(const char* restrict format, va_list arguments);
int vfprintf(FILE* restrict to, const char* restrict format, va_list arguments);
int vsnprintf(char* restrict to, size_t bytes, const char* restrict format, va_list arguments);
int puts(const char* text);
int fputs(const char* restrict text, FILE* restrict to);
int putchar(int character);
int fflush(FILE* to);

#endif
