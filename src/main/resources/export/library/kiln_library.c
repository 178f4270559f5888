/* SPDX-License-Identifier: Apache-2.0
 *
 * What generated code needs in a shared library. Code that calls TVMAPISetLastError is compiled with that name defined as
 * kiln_set_last_error, so that the library needs no symbol of others.
 */
#include <stddef.h>
#include <tvm/runtime/c_runtime_api.h>

/* A loader of TVM's sets these two: its own module, and where messages go. */
TVM_DLL extern void* __tvm_module_ctx;
void* __tvm_module_ctx = NULL;
TVM_DLL extern void (*__TVMAPISetLastError)(const char* message);
void (*__TVMAPISetLastError)(const char* message) = NULL;

enum { MESSAGE_BYTES = 1024 };

static _Thread_local char last_error[MESSAGE_BYTES];

void kiln_set_last_error(const char* message);
TVM_DLL const char* kiln_last_error(void);

/* Keeps a copy of the message, which may be longer or lie on the stack, and tells it to the loader. */
void kiln_set_last_error(const char* message) {
  size_t length = 0;
  while (length < MESSAGE_BYTES - 1 && message[length] != '\0') {
    last_error[length] = message[length];
    length++;
  }
  last_error[length] = '\0';
  if (__TVMAPISetLastError != NULL) {
    __TVMAPISetLastError(message);
  }
}

/* The last message of this thread, or "". */
const char* kiln_last_error(void) { return last_error; }
