#ifndef TVMGEN_BETA_H_
#define TVMGEN_BETA_H_
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*!
 * \brief Input tensor data size (in bytes) for TVM module "beta" 
 */
#define TVMGEN_BETA_DATA_SIZE 10
/*!
 * \brief Output tensor output1 size (in bytes) for TVM module "beta" 
 */
#define TVMGEN_BETA_OUTPUT1_SIZE 10
/*!
 * \brief Output tensor output0 size (in bytes) for TVM module "beta" 
 */
#define TVMGEN_BETA_OUTPUT0_SIZE 10
/*!
 * \brief Input tensor pointers for TVM module "beta" 
 */
struct tvmgen_beta_inputs {
  void* data;
};

/*!
 * \brief Output tensor pointers for TVM module "beta" 
 */
struct tvmgen_beta_outputs {
  void* output0;
  void* output1;
};

/*!
 * \brief Workspace pool pointers for TVM module "beta" 
 */
struct tvmgen_beta_workspace_pools {
  void* sram;
};

/*!
 * \brief Maps I/O inside the workspace pools for TVM module "beta"
 * \param workspace_pools Workspace memory pool struct for the module 
 * \return I/O tensor struct for the module 
 */
struct tvmgen_beta_inputs tvmgen_beta_map_inputs(
  struct tvmgen_beta_workspace_pools* workspace_pools
);

/*!
 * \brief Maps I/O inside the workspace pools for TVM module "beta"
 * \param workspace_pools Workspace memory pool struct for the module 
 * \return I/O tensor struct for the module 
 */
struct tvmgen_beta_outputs tvmgen_beta_map_outputs(
  struct tvmgen_beta_workspace_pools* workspace_pools
);

/*!
 * \brief entrypoint function for TVM module "beta"
 * \param workspace_pools Workspace memory pool pointers for the module 
 */
int32_t tvmgen_beta_run(
  struct tvmgen_beta_workspace_pools* workspace_pools
);
/*!
 * \brief Workspace size for TVM module "beta" 
 */
#define TVMGEN_BETA_WORKSPACE_SIZE 0
/*!
 * \brief sram size for TVM module "beta" 
 */
#define TVMGEN_BETA_SRAM_WORKSPACE_POOL_SIZE 42

#ifdef __cplusplus
}
#endif

#endif // TVMGEN_BETA_H_
