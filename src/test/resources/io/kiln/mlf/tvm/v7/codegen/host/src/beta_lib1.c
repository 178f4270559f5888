// tvm target: c -keys=arm_cpu,cpu -mcpu=cortex-m7
#define TVM_EXPORTS
#include "tvm/runtime/c_runtime_api.h"
#include "tvm/runtime/c_backend_api.h"
#include <math.h>
#include <stdbool.h>
#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t tvmgen_beta_fused_multiply(int16_t* p0, int16_t* T_multiply, uint8_t* sram_2_var);
#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t tvmgen_beta_fused_nn_relu(int16_t* p0, int16_t* T_relu, uint8_t* sram_4_var);
#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t tvmgen_beta___tvm_main__(uint8_t* sram_0_var);
#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t tvmgen_beta_fused_multiply(int16_t* p0, int16_t* T_multiply, uint8_t* sram_2_var) {
  for (int32_t ax1 = 0; ax1 < 5; ++ax1) {
    T_multiply[ax1] = (p0[ax1] * (int16_t)3);
  }
  return 0;
}

#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t tvmgen_beta_fused_nn_relu(int16_t* p0, int16_t* T_relu, uint8_t* sram_4_var) {
  for (int32_t ax1 = 0; ax1 < 5; ++ax1) {
    int16_t v_ = p0[ax1];
    T_relu[ax1] = ((v_) > ((int16_t)0) ? (v_) : ((int16_t)0));
  }
  return 0;
}

#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t tvmgen_beta___tvm_main__(uint8_t* sram_0_var) {
  void* data_buffer_var_let = (&(sram_0_var[0]));
  void* output0_buffer_var_let = (&(sram_0_var[16]));
  void* output1_buffer_var_let = (&(sram_0_var[32]));
  if (tvmgen_beta_fused_multiply(data_buffer_var_let, output0_buffer_var_let, sram_0_var) != 0 ) return -1;
  if (tvmgen_beta_fused_nn_relu(data_buffer_var_let, output1_buffer_var_let, sram_0_var) != 0 ) return -1;
  return 0;
}

