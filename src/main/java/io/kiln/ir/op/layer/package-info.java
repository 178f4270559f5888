// SPDX-License-Identifier: Apache-2.0
/** Convolutions, dense layers, pooling and related operators. */
package io.kiln.ir.op.layer;
