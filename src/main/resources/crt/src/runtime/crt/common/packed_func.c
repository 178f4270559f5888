/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <tvm/runtime/crt/logging.h>
#include <tvm/runtime/crt/packed_func.h>

/* The kinds of element types by name, with the bits that they have if none are given. */
static const struct {
  char name[8];
  uint8_t code;
  uint8_t bits;
} kinds[] = {{"int", kDLInt, 32},       {"uint", kDLUInt, 32},           {"float", kDLFloat, 32},
             {"bfloat", kDLBfloat, 16}, {"handle", kDLOpaqueHandle, 64}, {"bool", kDLUInt, 1}};

/* Reads a decimal number at *s, if there is one. 0 if there is none or it is above the limit. */
static uint32_t number(const char** s, uint32_t limit) {
  uint32_t value = 0;
  while (**s >= '0' && **s <= '9') {
    if (value <= limit) {
      value = 10u * value + (uint32_t)(**s - '0');
    }
    ++*s;
  }
  return value <= limit ? value : 0u;
}

DLDataType String2DLDataType(const char* s) {
  const DLDataType nothing = {kDLOpaqueHandle, 0, 0};
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
    size_t length = strlen(kinds[i].name);
    if (strncmp(s, kinds[i].name, length) != 0) {
      continue;
    }
    const char* at = s + length;
    int has_bits = *at >= '0' && *at <= '9';
    uint32_t bits = has_bits ? number(&at, UINT8_MAX) : kinds[i].bits;
    uint32_t lanes = 1;
    if (*at == 'x') {
      ++at;
      lanes = number(&at, UINT16_MAX);
    }
    DLDataType type = {kinds[i].code, (uint8_t)bits, (uint16_t)lanes};
    return *at == '\0' && bits > 0u && lanes > 0u ? type : nothing;
  }
  return nothing;
}

TVMArgs TVMArgs_Create(TVMValue* values, uint32_t* tcodes, uint32_t values_count) {
  TVMArgs args;
  CHECK(values_count <= TVM_CRT_MAX_ARGS);
  memset(&args, 0, sizeof(args));
  for (uint32_t i = 0; i < values_count; ++i) {
    args.values[i] = values[i];
    args.tcodes[i] = (int)tcodes[i];
  }
  args.values_count = values_count;
  return args;
}

/* Fills everything in but the function. */
static int init(TVMPackedFunc* pf, const char* name, const TVMArgs* args) {
  size_t length = strlen(name);
  memset(pf, 0, sizeof(*pf));
  if (length >= sizeof(pf->name)) {
    return kTvmErrorFunctionNameNotFound;
  }
  memcpy(pf->name, name, length + 1u);
  pf->Call = TVMPackedFunc_Call;
  pf->SetArgs = TVMPackedFunc_SetArgs;
  pf->SetArgs(pf, args);
  return 0;
}

int TVMPackedFunc_InitGlobalFunc(TVMPackedFunc* pf, const char* name, const TVMArgs* args) {
  int error = init(pf, name, args);
  if (error == 0) {
    error = TVMFuncGetGlobal(name, &pf->fexec);
  }
  return error == 0 && pf->fexec == NULL ? (int)kTvmErrorFunctionNameNotFound : error;
}

int TVMPackedFunc_InitModuleFunc(TVMPackedFunc* pf, TVMModuleHandle module, const char* name,
                                 const TVMArgs* args) {
  int error = init(pf, name, args);
  return error == 0 ? TVMModGetFunction(module, name, 0, &pf->fexec) : error;
}

int TVMPackedFunc_Call(TVMPackedFunc* pf) {
  pf->ret_value.values_count = 1;
  return TVMFuncCall(pf->fexec, pf->args.values, pf->args.tcodes, (int)pf->args.values_count,
                     pf->ret_value.values, pf->ret_value.tcodes);
}

void TVMPackedFunc_SetArgs(TVMPackedFunc* pf, const TVMArgs* args) {
  pf->args = *args;
}
