// tvm target: c -keys=arm_cpu,cpu -mcpu=cortex-m7
#define TVM_EXPORTS
#include "tvm/runtime/c_runtime_api.h"
#include "tvm/runtime/c_backend_api.h"
#include <math.h>
#include <stdbool.h>
#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t tvmgen_alpha_fused_cast_subtract(uint8_t* p0, int32_t* T_subtract, uint8_t* global_const_workspace_2_var, uint8_t* global_workspace_3_var);
#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t tvmgen_alpha_fused_add_add(int32_t* p0, int32_t* p1, int32_t* T_add, uint8_t* global_const_workspace_4_var, uint8_t* global_workspace_5_var);
#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t tvmgen_alpha___tvm_main__(uint8_t* x_0_buffer_var, int32_t* state_buffer_var, int32_t* output_buffer_var, uint8_t* global_const_workspace_0_var, uint8_t* global_workspace_1_var);
#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t tvmgen_alpha_fused_cast_subtract(uint8_t* p0, int32_t* T_subtract, uint8_t* global_const_workspace_2_var, uint8_t* global_workspace_3_var) {
  for (int32_t ax1 = 0; ax1 < 6; ++ax1) {
    T_subtract[ax1] = (((int32_t)p0[ax1]) - 128);
  }
  return 0;
}

#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t tvmgen_alpha_fused_add_add(int32_t* p0, int32_t* p1, int32_t* T_add, uint8_t* global_const_workspace_4_var, uint8_t* global_workspace_5_var) {
  void* fused_constant_let = (&(global_const_workspace_4_var[0]));
  for (int32_t ax1 = 0; ax1 < 6; ++ax1) {
    T_add[ax1] = ((p0[ax1] + p1[ax1]) + ((int32_t*)fused_constant_let)[ax1]);
  }
  return 0;
}

#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t tvmgen_alpha___tvm_main__(uint8_t* x_0_buffer_var, int32_t* state_buffer_var, int32_t* output_buffer_var, uint8_t* global_const_workspace_0_var, uint8_t* global_workspace_1_var) {
  void* sid_2_let = (&(global_workspace_1_var[0]));
  if (tvmgen_alpha_fused_cast_subtract(x_0_buffer_var, sid_2_let, global_const_workspace_0_var, global_workspace_1_var) != 0 ) return -1;
  if (tvmgen_alpha_fused_add_add(sid_2_let, state_buffer_var, output_buffer_var, global_const_workspace_0_var, global_workspace_1_var) != 0 ) return -1;
  return 0;
}

