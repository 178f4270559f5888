// SPDX-License-Identifier: Apache-2.0
/** Kernels of convolutions, dense layers and pooling. */
package io.kiln.reference.layer;
