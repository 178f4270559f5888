// SPDX-License-Identifier: Apache-2.0
/** Lowering of convolutions, dense layers and pooling. */
package io.kiln.lower.layer;
