#include "tvm/runtime/c_runtime_api.h"
#ifdef __cplusplus
extern "C" {
#endif
__attribute__((section(".rodata.tvm"), ))
static struct global_const_workspace {
  float fused_nn_contrib_dense_pack_add_constant_let[12] __attribute__((aligned(16))); // 48 bytes, aligned offset: 0
  float fused_nn_contrib_dense_pack_add_constant_1_let[3] __attribute__((packed, aligned(16))); // 12 bytes, aligned offset: 48
} global_const_workspace = {
  .fused_nn_contrib_dense_pack_add_constant_let = {
    0x1.e000000000000p-1, -0x1.3000000000000p-2, -0x1.p-2, 0x1.9000000000000p-1, 
    -0x1.p-2, -0x1.f000000000000p-2, 0x1.5800000000000p-1, 0x1.1000000000000p-1, 
    -0x1.1800000000000p-1, 0x1.2800000000000p-1, 0x1.5800000000000p-1, -0x1.4000000000000p-3
  },
  .fused_nn_contrib_dense_pack_add_constant_1_let = {
    0x1.p-2, -0x1.p-1, 0x1.p-3
  },
};// of total size 60 bytes
__attribute__((section(".bss.noinit.tvm"), aligned(16)))
static uint8_t global_workspace[32];
#include <tvmgen_default.h>
TVM_DLL int32_t tvmgen_default___tvm_main__(void* serving_default_x_0,void* output0,uint8_t* global_const_workspace_0_var,uint8_t* global_workspace_1_var);
int32_t tvmgen_default_run(struct tvmgen_default_inputs* inputs,struct tvmgen_default_outputs* outputs) {return tvmgen_default___tvm_main__(inputs->serving_default_x_0,outputs->output,((uint8_t*)&global_const_workspace),((uint8_t*)&global_workspace));
}
#ifdef __cplusplus
}
#endif
;