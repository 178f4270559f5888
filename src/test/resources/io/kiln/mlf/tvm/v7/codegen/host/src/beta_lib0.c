#include "tvm/runtime/c_runtime_api.h"
#ifdef __cplusplus
extern "C" {
#endif
#include <tvmgen_beta.h>
struct tvmgen_beta_inputs tvmgen_beta_map_inputs(
  struct tvmgen_beta_workspace_pools* workspace_pools

){
struct tvmgen_beta_inputs ret = {
	.data = &((uint8_t*)workspace_pools->sram)[0],
};
return ret;
}

struct tvmgen_beta_outputs tvmgen_beta_map_outputs(
  struct tvmgen_beta_workspace_pools* workspace_pools

){
struct tvmgen_beta_outputs ret = {
	.output0 = &((uint8_t*)workspace_pools->sram)[16],
	.output1 = &((uint8_t*)workspace_pools->sram)[32],
};
return ret;
}

TVM_DLL int32_t tvmgen_beta___tvm_main__(uint8_t* sram_0_var);
int32_t tvmgen_beta_run(struct tvmgen_beta_workspace_pools* workspace_pools) {return tvmgen_beta___tvm_main__(((uint8_t*)workspace_pools->sram));
}
#ifdef __cplusplus
}
#endif
;