#ifndef TVMGEN_LEFT_H_
#define TVMGEN_LEFT_H_
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*!
 * \brief Input tensor pointers for TVM module "left" 
 */
struct tvmgen_left_inputs {
  void* x;
};

/*!
 * \brief Output tensor pointers for TVM module "left" 
 */
struct tvmgen_left_outputs {
  void* output;
};

/*!
 * \brief entrypoint function for TVM module "left"
 * \param inputs Input tensors for the module 
 * \param outputs Output tensors for the module 
 */
int32_t tvmgen_left_run(
  struct tvmgen_left_inputs* inputs,
  struct tvmgen_left_outputs* outputs
);

#ifdef __cplusplus
}
#endif

#endif // TVMGEN_LEFT_H_
