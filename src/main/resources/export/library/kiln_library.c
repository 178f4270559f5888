/* SPDX-License-Identifier: Apache-2.0
 *
 * What generated code needs in a shared library. Code that calls TVMAPISetLastError is compiled with that name defined as
 * kiln_set_last_error, so that the library needs no symbol of others.
 */
#include <stddef.h>
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/metadata_types.h>

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

#ifdef KILN_MODEL

/* What TVM's ahead-of-time executor looks up. It calls <mod_name>___tvm_main__ with inputs, outputs, and whatever pools it is
 * told of. It is told of none, and of the name of the function that brings the workspace itself, tvmgen_<model>_run. */

#define KILN_JOINED(a, b) a##b
#define KILN_NAME(model, suffix) KILN_JOINED(model, suffix)
#define KILN_QUOTED(text) #text
#define KILN_TEXT(text) KILN_QUOTED(text)

#define KILN_PACKED(name) \
  int32_t name(TVMValue* args, int* type_codes, int num_args, TVMValue* out_value, int* out_type_code, void* resource_handle)

TVM_DLL KILN_PACKED(KILN_NAME(KILN_MODEL, _run));
TVM_DLL KILN_PACKED(KILN_NAME(KILN_MODEL, _get_c_metadata));
TVM_DLL KILN_PACKED(KILN_NAME(KILN_MODEL, _run___tvm_main__));
TVM_DLL KILN_PACKED(get_c_metadata);

KILN_PACKED(KILN_NAME(KILN_MODEL, _run___tvm_main__)) {
  return KILN_NAME(KILN_MODEL, _run)(args, type_codes, num_args, out_value, out_type_code, resource_handle);
}

KILN_PACKED(get_c_metadata) {
  static struct TVMMetadata metadata;
  int32_t error =
      KILN_NAME(KILN_MODEL, _get_c_metadata)(args, type_codes, num_args, out_value, out_type_code, resource_handle);
  if (error == 0) {
    metadata = *(const struct TVMMetadata*)out_value->v_handle;
    metadata.mod_name = KILN_TEXT(KILN_MODEL) "_run";
    metadata.num_workspace_pools = 0;
    metadata.num_constant_pools = 0;
    out_value->v_handle = &metadata;
  }
  return error;
}
#endif
