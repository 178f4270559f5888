// tvm target: c -keys=arm_cpu,cpu -link-params=0 -mcpu=cortex-m4 -model=nrf52840
#define TVM_EXPORTS
#include "tvm/runtime/c_runtime_api.h"
#include "tvm/runtime/c_backend_api.h"
#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif
static const int8_t __attribute__((section(".rodata.tvm"), aligned(16))) constant_0[128] = {
    -0x0c, +0x5e, +0x10, +0x5c, +0x6d, +0x48, -0x08, -0x0c, 
    +0x03, +0x5b, +0x17, -0x4f, -0x50, +0x4e, +0x04, -0x06, 
    +0x22, +0x1e, +0x4c, -0x50, -0x67, -0x0d, -0x32, -0x5b, 
    -0x68, +0x0a, +0x50, +0x64, +0x32, +0x23, -0x75, +0x19, 
    +0x7c, -0x1a, +0x77, -0x0c, +0x28, +0x3e, +0x1e, +0x27, 
    -0x57, +0x20, -0x7c, +0x55, +0x08, -0x6f, -0x70, -0x76, 
    -0x4f, +0x62, -0x42, +0x1a, -0x78, +0x48, -0x09, -0x2c, 
    -0x0f, +0x18, +0x58, -0x4d, +0x05, -0x44, +0x24, -0x34, 
    +0x00, -0x7e, +0x2a, -0x6a, -0x0a, +0x28, -0x38, -0x17, 
    +0x0e, +0x7f, +0x6f, +0x58, -0x6a, +0x36, -0x3e, -0x2f, 
    +0x43, -0x45, +0x04, -0x36, -0x78, -0x6e, +0x11, +0x45, 
    -0x64, -0x19, -0x64, +0x59, -0x35, -0x1d, -0x6e, +0x76, 
    -0x7b, +0x59, +0x30, -0x7f, -0x49, -0x4a, +0x6e, +0x6a, 
    -0x72, -0x07, -0x1f, +0x7b, +0x36, -0x1a, -0x14, -0x6d, 
    +0x11, +0x22, -0x4d, +0x48, +0x2d, -0x3a, -0x29, -0x69, 
    -0x30, -0x2a, -0x7c, +0x77, -0x17, +0x43, +0x6d, -0x61
};
#ifdef __cplusplus
}  // extern "C"
#endif

#ifdef __cplusplus
extern "C" {
#endif
static const int32_t __attribute__((section(".rodata.tvm"), aligned(16))) constant_1[8] = {
    -0x00000b52, -0x000007be, +0x000006ff, -0x00000c65, 
    -0x00000f47, -0x00000db6, -0x000000c0, +0x000009e1
};
#ifdef __cplusplus
}  // extern "C"
#endif
#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t tvmgen_default_fused_reshape_cast_subtract(int8_t* placeholder, int16_t* T_subtract) {
  for (int32_t ax1_outer = 0; ax1_outer < 2; ++ax1_outer) {
    for (int32_t ax1_inner = 0; ax1_inner < 8; ++ax1_inner) {
      int32_t cse_var_1 = ((ax1_outer * 8) + ax1_inner);
      T_subtract[cse_var_1] = (((int16_t)placeholder[cse_var_1]) - (int16_t)-3);
    }
  }
  return 0;
}

#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t tvmgen_default_fused_nn_contrib_dense_pack_add_fixed_point_multiply_add_clip_cast(int16_t* placeholder, int8_t* T_cast) {
  void* packed_weight = TVMBackendAllocWorkspace(1, 0, (uint64_t)256, 0, 16);
  if (packed_weight == NULL) {
    return -1;
  }
  void* compute = TVMBackendAllocWorkspace(1, 0, (uint64_t)32, 0, 32);
  if (compute == NULL) {
    return -1;
  }
  for (int32_t y = 0; y < 16; ++y) {
    for (int32_t x = 0; x < 8; ++x) {
      ((int16_t*)packed_weight)[((y * 8) + x)] = ((int16_t)((int8_t*)constant_0)[((x * 16) + y)]);
    }
  }
  for (int32_t x_c = 0; x_c < 8; ++x_c) {
    ((int32_t*)compute)[x_c] = 0;
    for (int32_t k_outer = 0; k_outer < 16; ++k_outer) {
      ((int32_t*)compute)[x_c] = (((int32_t*)compute)[x_c] + (((int32_t)placeholder[k_outer]) * ((int32_t)((int16_t*)packed_weight)[((k_outer * 8) + x_c)])));
    }
  }
  for (int32_t ax1_inner_inner = 0; ax1_inner_inner < 8; ++ax1_inner_inner) {
    int32_t _1 = ((int32_t)(((((0 != 0) ? (((int64_t)(((int32_t*)compute)[ax1_inner_inner] + ((int32_t*)constant_1)[ax1_inner_inner])) << ((int64_t)0)) : ((int64_t)(((int32_t*)compute)[ax1_inner_inner] + ((int32_t*)constant_1)[ax1_inner_inner]))) * (int64_t)1395864371) + ((int64_t)1 << ((int64_t)((8 + 31) - 1)))) >> ((int64_t)(8 + 31)))) + 7;
    int32_t _2 = (_1) < (127) ? (_1) : (127);
    T_cast[ax1_inner_inner] = ((int8_t)((_2) > (-128) ? (_2) : (-128)));
  }
  if (TVMBackendFreeWorkspace(1, 0, compute) != 0) {
    return -1;
  }
  if (TVMBackendFreeWorkspace(1, 0, packed_weight) != 0) {
    return -1;
  }
  return 0;
}

#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t tvmgen_default___tvm_main__(void* input_buffer_var, void* output_buffer_var) {
  void* sid_1 = TVMBackendAllocWorkspace(1, 0, (uint64_t)32, 0, 16);
  if (sid_1 == NULL) {
    return -1;
  }
  void* arg0_let = (&(((int8_t*)input_buffer_var)[0]));
  if (tvmgen_default_fused_reshape_cast_subtract(input_buffer_var, sid_1) != 0 ) return -1;
  if (tvmgen_default_fused_nn_contrib_dense_pack_add_fixed_point_multiply_add_clip_cast(sid_1, output_buffer_var) != 0 ) return -1;
  if (TVMBackendFreeWorkspace(1, 0, sid_1) != 0) {
    return -1;
  }
  return 0;
}

