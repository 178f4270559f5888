#include "tvm/runtime/c_runtime_api.h"
#ifdef __cplusplus
extern "C" {
#endif
__attribute__((section(".rodata.tvm"), ))
static const struct global_const_workspace {
  int32_t fused_constant_let[6] __attribute__((aligned(16))); // 24 bytes, aligned offset: 0
} global_const_workspace = {
  .fused_constant_let = {
    -0x00018625, -0x0000725b, +0x0000d857, -0x00004f2f, 
    -0x00017286, -0x0000aedc
  },
};// of total size 24 bytes
__attribute__((section(".bss.noinit.tvm"), aligned(16)))
static uint8_t global_workspace[24];
#include <tvmgen_alpha.h>
TVM_DLL int32_t tvmgen_alpha___tvm_main__(void* x_0,void* state,void* output0,uint8_t* global_const_workspace_0_var,uint8_t* global_workspace_1_var);
int32_t tvmgen_alpha_run(struct tvmgen_alpha_inputs* inputs,struct tvmgen_alpha_outputs* outputs) {return tvmgen_alpha___tvm_main__(inputs->x_0,inputs->state,outputs->output,((uint8_t*)&global_const_workspace),((uint8_t*)&global_workspace));
}
#ifdef __cplusplus
}
#endif
;