/* SPDX-License-Identifier: Apache-2.0
 *
 * What microTVM's tables of functions do, case by case as its own test has them, and beyond. This file is C and C++, and runs on boards too.
 */
#include <string.h>
#include <tvm/runtime/crt/func_registry.h>
#include <tvm/runtime/crt/internal/common/func_registry.h>

#include "check.h"

#define POINTER sizeof(TVMBackendPackedCFunc)
#define ENTRY (TVM_AVERAGE_FUNCTION_NAME_STRLEN_BYTES + 1u + POINTER)

static int one(TVMValue* args, int* type_codes, int num_args, TVMValue* ret, int* ret_type_code,
               void* resource_handle) {
  (void)args;
  (void)type_codes;
  (void)num_args;
  (void)ret;
  (void)ret_type_code;
  (void)resource_handle;
  return 1;
}

static int two(TVMValue* args, int* type_codes, int num_args, TVMValue* ret, int* ret_type_code,
               void* resource_handle) {
  return 1 + one(args, type_codes, num_args, ret, ret_type_code, resource_handle);
}

static int compare(const char* text, const char* name) {
  const char* cursor = text;
  int difference = strcmp_cursor(&cursor, name);
  EXPECT(*cursor == '\0' && cursor == text + strlen(text));
  return difference;
}

/* Five cases of microTVM's. */
static void names_are_compared_to_the_end_of_the_cursor(void) {
  EXPECT(compare("Foo", "Foo") == 0);
  EXPECT(compare("Foo", "Bar") == 'F' - 'B');
  EXPECT(compare("Foo", "") == 'F');
  EXPECT(compare("Fabulous", "Fab") == 'u');
  EXPECT(compare("Fab", "Fabulous") == 0 - 'u');
}

static void the_cursor_goes_from_name_to_name(void) {
  const char* names = "Foo\0Bar\0Whoops\0";
  const char* cursor = names;
  EXPECT(strcmp_cursor(&cursor, "Fo") == 'o' && cursor == names + 3);
  ++cursor;
  EXPECT(strcmp_cursor(&cursor, "Barr") == 0 - 'r' && cursor == names + 7);
  ++cursor;
  EXPECT(strcmp_cursor(&cursor, "WB") == 'h' - 'B' && cursor == names + 14);
  ++cursor;
  EXPECT(strcmp_cursor(&cursor, "") == 0 && cursor == names + 15);
}

static void an_empty_table_has_nothing(void) {
  TVMFuncRegistry registry = {"\000\000", NULL};
  EXPECT(TVMFuncRegistry_Lookup(&registry, "foo", NULL) == kTvmErrorFunctionNameNotFound);
  EXPECT(TVMFuncRegistry_Lookup(&registry, "", NULL) == kTvmErrorFunctionNameNotFound);
  EXPECT(TVMFuncRegistry_GetByIndex(&registry, 0, NULL) == kTvmErrorFunctionIndexInvalid);
}

static void a_constant_table_is_found_in_by_name_and_index(void) {
  static const TVMBackendPackedCFunc functions[] = {one, two};
  static const TVMFuncRegistry registry = {"\002\000Foo\0Bar\0", functions};
  tvm_function_index_t index = 100;
  TVMBackendPackedCFunc function = NULL;
  EXPECT(TVMFuncRegistry_GetNumFuncs(&registry) == 2u);
  EXPECT(strcmp(TVMFuncRegistry_Get0thFunctionName(&registry), "Foo") == 0);
  EXPECT(TVMFuncRegistry_Lookup(&registry, "Foo", &index) == kTvmErrorNoError && index == 0u);
  EXPECT(TVMFuncRegistry_GetByIndex(&registry, index, &function) == kTvmErrorNoError && function == one);
  EXPECT(TVMFuncRegistry_Lookup(&registry, "Bar", &index) == kTvmErrorNoError && index == 1u);
  EXPECT(TVMFuncRegistry_GetByIndex(&registry, index, &function) == kTvmErrorNoError && function == two);
  EXPECT(TVMFuncRegistry_Lookup(&registry, "Baz", &index) == kTvmErrorFunctionNameNotFound && index == 1u);
  function = NULL;
  EXPECT(TVMFuncRegistry_GetByIndex(&registry, 2, &function) == kTvmErrorFunctionIndexInvalid);
  EXPECT(function == NULL);
}

static void a_buffer_smaller_than_an_entry_is_refused(void) {
  uint8_t buffer[ENTRY];
  EXPECT(kTvmAverageFunctionNameStrlenBytes == TVM_AVERAGE_FUNCTION_NAME_STRLEN_BYTES);
  EXPECT(kTvmAverageFuncEntrySizeBytes == ENTRY);
  for (size_t size = 0; size < ENTRY; ++size) {
    EXPECT(TVMMutableFuncRegistry_Create(NULL, buffer, size) == kTvmErrorBufferTooSmall);
  }
}

/* A text of this length. */
static const char* name_of(size_t length, char first) {
  static char text[64];
  memset(text, 'x', sizeof(text));
  text[0] = first;
  text[length] = '\0';
  return text;
}

static void has(const TVMMutableFuncRegistry* table, const char* name, unsigned expected_index,
                TVMBackendPackedCFunc expected) {
  tvm_function_index_t index = 100;
  TVMBackendPackedCFunc function = NULL;
  EXPECT(TVMFuncRegistry_Lookup(&table->registry, name, &index) == kTvmErrorNoError);
  EXPECT(index == expected_index);
  EXPECT(TVMFuncRegistry_GetByIndex(&table->registry, index, &function) == kTvmErrorNoError);
  EXPECT(function == expected);
}

static void is_full_for(TVMMutableFuncRegistry* table, const char* name) {
  tvm_function_index_t index = 100;
  uint16_t before = TVMFuncRegistry_GetNumFuncs(&table->registry);
  EXPECT(TVMMutableFuncRegistry_Set(table, name, one, 0) == kTvmErrorFunctionRegistryFull);
  EXPECT(TVMFuncRegistry_GetNumFuncs(&table->registry) == before);
  EXPECT(TVMFuncRegistry_Lookup(&table->registry, name, &index) == kTvmErrorFunctionNameNotFound);
  EXPECT(index == 100u);
}

/* MicroTVM's case, in buffers that begin at any address: names may fill all that the functions leave, to the last byte. */
static void names_fill_what_the_functions_leave(void) {
  static uint8_t memory[3 * ENTRY + POINTER + 1];
  for (size_t begin = 0; begin < POINTER; ++begin) {
    for (size_t rest = 0; rest < ENTRY; ++rest) {
      TVMMutableFuncRegistry table;
      size_t size = 2 * ENTRY + rest;
      uint8_t* buffer = memory + begin;
      memset(memory, 0xee, sizeof(memory));
      EXPECT(TVMMutableFuncRegistry_Create(&table, buffer, size) == kTvmErrorNoError);
      EXPECT(table.max_functions == 2u && buffer[0] == 0u && buffer[1] == 0u && buffer[2] == 0u);
      EXPECT((const uint8_t*)table.registry.funcs == buffer + size - 2 * POINTER);
      EXPECT(TVMMutableFuncRegistry_Set(&table, name_of(10, 'a'), one, 0) == kTvmErrorNoError);
      is_full_for(&table, name_of(9 + rest, 'b'));
      EXPECT(TVMMutableFuncRegistry_Set(&table, name_of(8 + rest, 'b'), two, 0) == kTvmErrorNoError);
      has(&table, name_of(10, 'a'), 0, one);
      has(&table, name_of(8 + rest, 'b'), 1, two);
      is_full_for(&table, "a");
      EXPECT(buffer[size] == 0xeeu);
    }
  }
}

static void a_name_is_replaced_only_when_asked(void) {
  uint8_t buffer[2 * ENTRY];
  TVMMutableFuncRegistry table;
  EXPECT(TVMMutableFuncRegistry_Create(&table, buffer, sizeof(buffer)) == kTvmErrorNoError);
  EXPECT(TVMMutableFuncRegistry_Set(&table, "f", one, 0) == kTvmErrorNoError);
  EXPECT(TVMMutableFuncRegistry_Set(&table, "f", two, 0) == kTvmErrorFunctionAlreadyDefined);
  has(&table, "f", 0, one);
  EXPECT(TVMMutableFuncRegistry_Set(&table, "f", two, 1) == kTvmErrorNoError);
  has(&table, "f", 0, two);
  EXPECT(TVMFuncRegistry_GetNumFuncs(&table.registry) == 1u);
  EXPECT(TVMMutableFuncRegistry_Set(&table, "g", one, 1) == kTvmErrorNoError);
  has(&table, "g", 1, one);
  EXPECT(TVMFuncRegistry_SetNumFuncs(&table.registry, 1) == 0);
  EXPECT(TVMFuncRegistry_Lookup(&table.registry, "g", NULL) == kTvmErrorFunctionNameNotFound);
}

int main(void) {
  names_are_compared_to_the_end_of_the_cursor();
  the_cursor_goes_from_name_to_name();
  an_empty_table_has_nothing();
  a_constant_table_is_found_in_by_name_and_index();
  a_buffer_smaller_than_an_entry_is_refused();
  names_fill_what_the_functions_leave();
  a_name_is_replaced_only_when_asked();
  DONE("the function registry does what it should");
  return 0;
}
