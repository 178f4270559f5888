// SPDX-License-Identifier: Apache-2.0
/** Kernels' interface, and the tensors that they read and write. */
package io.kiln.reference.kernel;
