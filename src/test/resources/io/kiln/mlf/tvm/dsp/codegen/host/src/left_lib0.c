#include "tvm/runtime/c_runtime_api.h"
#ifdef __cplusplus
extern "C" {
#endif
#include <tvmgen_left.h>
TVM_DLL int32_t tvmgen_left___tvm_main__(void* x,void* output0);
int32_t tvmgen_left_run(struct tvmgen_left_inputs* inputs,struct tvmgen_left_outputs* outputs) {return tvmgen_left___tvm_main__(inputs->x,outputs->output);
}
#ifdef __cplusplus
}
#endif
;
