#ifndef TVMGEN_ALPHA_H_
#define TVMGEN_ALPHA_H_
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*!
 * \brief Input tensor state size (in bytes) for TVM module "alpha" 
 */
#define TVMGEN_ALPHA_STATE_SIZE 24
/*!
 * \brief Input tensor x_0 size (in bytes) for TVM module "alpha" 
 */
#define TVMGEN_ALPHA_X_0_SIZE 6
/*!
 * \brief Output tensor output size (in bytes) for TVM module "alpha" 
 */
#define TVMGEN_ALPHA_OUTPUT_SIZE 24
/*!
 * \brief Input tensor pointers for TVM module "alpha" 
 */
struct tvmgen_alpha_inputs {
  void* x_0;
  void* state;
};

/*!
 * \brief Output tensor pointers for TVM module "alpha" 
 */
struct tvmgen_alpha_outputs {
  void* output;
};

/*!
 * \brief entrypoint function for TVM module "alpha"
 * \param inputs Input tensors for the module 
 * \param outputs Output tensors for the module 
 */
int32_t tvmgen_alpha_run(
  struct tvmgen_alpha_inputs* inputs,
  struct tvmgen_alpha_outputs* outputs
);
/*!
 * \brief Workspace size for TVM module "alpha" 
 */
#define TVMGEN_ALPHA_WORKSPACE_SIZE 24

#ifdef __cplusplus
}
#endif

#endif // TVMGEN_ALPHA_H_
