// SPDX-License-Identifier: Apache-2.0
/**
 * Trees of modules in shared libraries, as TVM exports and loads them: the blob {@code __tvm_dev_mblob}, payloads by type key, and the libraries
 * that carry them. A {@link io.kiln.module.ModuleLoader} of a dependency of the plugin is found as a Java service.
 */
package io.kiln.module;
