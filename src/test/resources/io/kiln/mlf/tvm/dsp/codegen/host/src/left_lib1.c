// tvm target: c -keys=arm_cpu,cpu -mcpu=cortex-m4 -model=nrf52840
#define TVM_EXPORTS
#include "tvm/runtime/c_runtime_api.h"
#include "tvm/runtime/c_backend_api.h"
#include <math.h>
#include <stdbool.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <arm_acle.h>

#include <tvm/runtime/crt/error_codes.h>

#ifndef ARM_CPU_INTRINSICS_EXIST
#define ARM_CPU_INTRINSICS_EXIST
__attribute__((always_inline)) uint32_t __ror(uint32_t op1, uint32_t op2)
{
  const uint32_t places = op2 & 31U;
  return places == 0U ? op1 : (op1 << (32U - places)) + (op1 >> places);
}
#define __pkhbt(low, high, places) __extension__ ({ uint32_t packed; __asm("pkhbt %0, %1, %2, lsl %3" : "=r"(packed) : "r"((uint32_t)(low)), "r"((uint32_t)(high)), "I"(places)); packed; })
#endif

#ifdef __cplusplus
extern "C" {
#endif
static const int8_t __attribute__((section(".rodata.tvm"), aligned(16))) fused_constant[16] = {
    +0x01, -0x02, +0x03, -0x04, +0x05, -0x06, +0x07, -0x08, 
    +0x7f, -0x80, +0x00, +0x01, -0x01, +0x02, -0x03, +0x64
};
#ifdef __cplusplus
}  // extern "C"
#endif
#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t tvmgen_left_fused_nn_contrib_dense_pack(int8_t* p0, int32_t* T_dense) {
  for (int32_t row = 0; row < 2; ++row) {
    int32_t sum = 0;
    for (int32_t word = 0; word < 8; word += 4) {
      uint32_t x;
      uint32_t w;
      memcpy(&x, p0 + word, 4);
      memcpy(&w, fused_constant + ((row * 8) + word), 4);
      sum = __smlad(__sxtb16(x), __sxtb16(w), sum);
      sum = __smlad(__sxtb16(__ror(x, 8)), __sxtb16(__ror(w, 8)), sum);
    }
    T_dense[row] = sum;
  }
  return (int32_t)__pkhbt(0, 0, 16);
}

#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t tvmgen_left___tvm_main__(int8_t* x_buffer_var, int32_t* output_buffer_var) {
  if (tvmgen_left_fused_nn_contrib_dense_pack(x_buffer_var, output_buffer_var) != 0 ) return -1;
  return 0;
}
